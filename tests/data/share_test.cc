#include "data/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Grid> kGrids = {{100, 10, 2}, {103, 10, 3},     {103, 10, 4},
                                  {7, 10, 3},   {1, 1, 1},        {10, 3, 5},
                                  {59, 8, 8},   {60'000, 128, 2}, {997, 100, 33}};

TEST(Grid, StepsCoverEachEpochOnce) {
  for (const Grid& grid : kGrids) {
    for (const std::uint64_t epoch : {0, 1, 5}) {
      std::uint64_t at = 0;
      for (std::uint64_t i = 0; i < grid.steps_per_epoch(); ++i) {
        const std::uint64_t step = epoch * grid.steps_per_epoch() + i;
        ASSERT_EQ(grid.epoch_of(step), epoch);
        const Range positions = grid.positions(step);
        ASSERT_EQ(positions.begin, at);
        ASSERT_GT(positions.size(), 0u);
        ASSERT_LE(positions.size(), grid.batch);
        at = positions.end;
      }
      ASSERT_EQ(at, grid.examples);
    }
  }
}

TEST(Grid, TilesCoverEachStepOnce) {
  for (const Grid& grid : kGrids) {
    for (std::uint64_t step = 0; step < 2 * grid.steps_per_epoch(); ++step) {
      std::uint64_t at = grid.positions(step).begin;
      for (std::uint64_t tile = 0; tile < grid.tiles(step); ++tile) {
        const Range positions = grid.positions(Share{step, {tile, tile + 1}});
        ASSERT_EQ(positions.begin, at);
        ASSERT_GT(positions.size(), 0u);
        ASSERT_LE(positions.size(), grid.tile);
        at = positions.end;
      }
      ASSERT_EQ(at, grid.positions(step).end);
      ASSERT_EQ(grid.positions(grid.whole(step)), grid.positions(step));
    }
  }
}

TEST(Grid, LastStepAndLastTileMayBeShort) {
  const Grid grid{103, 10, 4};
  EXPECT_EQ(grid.steps_per_epoch(), 11u);
  EXPECT_EQ(grid.tiles(0), 3u);
  EXPECT_EQ(grid.positions(Share{0, {2, 3}}), (Range{8, 10}));
  EXPECT_EQ(grid.positions(10), (Range{100, 103}));
  EXPECT_EQ(grid.tiles(10), 1u);
  EXPECT_EQ(grid.positions(11), (Range{0, 10}));
}

TEST(Grid, EmptyShareHasNoPositions) {
  const Grid grid{103, 10, 4};
  EXPECT_TRUE(grid.positions(Share{0, {1, 1}}).empty());
  EXPECT_TRUE(grid.positions(Share{0, {3, 3}}).empty());
}

TEST(Grid, CountsTheExamplesBeforeAStep) {
  for (const Grid& grid : kGrids) {
    std::uint64_t before = 0;
    for (std::uint64_t step = 0; step < 3 * grid.steps_per_epoch(); ++step) {
      ASSERT_EQ(grid.examples_before(step), before);
      before += grid.positions(step).size();
    }
    ASSERT_EQ(before, 3 * grid.examples);
  }
}

TEST(DefaultTile, CutsIntoAtMost64) {
  for (std::uint64_t batch = 1; batch < 1000; ++batch) {
    const Grid grid{batch, batch, default_tile(batch)};
    EXPECT_LE(grid.tiles(0), 64u);
    EXPECT_GE(grid.tiles(0), std::min<std::uint64_t>(batch, 32));
  }
}

// A node is an aligned run of 2^k tiles; the tree above `tiles` tiles has no others.
bool is_node(Range range) {
  const std::uint64_t size = range.size();
  return size > 0 && (size & (size - 1)) == 0 && range.begin % size == 0;
}

Range parent(Range node) {
  const std::uint64_t size = 2 * node.size();
  return {node.begin / size * size, node.begin / size * size + size};
}

TEST(TreeNodes, AreTheLargestOnesInsideInOrder) {
  for (std::uint64_t begin = 0; begin <= 70; ++begin) {
    for (std::uint64_t end = begin; end <= 70; ++end) {
      std::uint64_t at = begin;
      for (const Range node : tree_nodes({begin, end})) {
        ASSERT_EQ(node.begin, at);
        ASSERT_TRUE(is_node(node));
        const Range above = parent(node);
        ASSERT_TRUE(above.begin < begin || above.end > end) << "a larger node fits";
        at = node.end;
      }
      ASSERT_EQ(at, end);
    }
  }
}

TEST(TreeNodes, Examples) {
  EXPECT_THAT(tree_nodes({0, 0}), IsEmpty());
  EXPECT_THAT(tree_nodes({5, 5}), IsEmpty());
  EXPECT_THAT(tree_nodes({0, 64}), ElementsAre(Range{0, 64}));
  EXPECT_THAT(tree_nodes({3, 13}),
              ElementsAre(Range{3, 4}, Range{4, 8}, Range{8, 12}, Range{12, 13}));
}

}  // namespace
}  // namespace paceline

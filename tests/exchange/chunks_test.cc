#include "exchange/chunks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace paceline {
namespace {

std::vector<std::uint64_t> sizes_to_try(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> sizes = {from, to};
  Random random(from);
  for (int i = 0; i < 200; ++i) {
    // Evenly over the orders of magnitude.
    const std::uint64_t upper = from + ((to - from) >> random.below(20));
    sizes.push_back(from + random.below(upper - from + 1));
  }
  return sizes;
}

TEST(ChunkMap, TilesTheVectorExactly) {
  for (const std::uint64_t floats : sizes_to_try(1, 5'000'000)) {
    for (std::uint32_t servers = 1; servers <= 8; ++servers) {
      const ChunkMap map(floats, servers, 10'000);
      std::uint64_t at = 0;
      for (std::uint32_t chunk = 0; chunk < map.chunks(); ++chunk) {
        const Range range = map.floats_of(chunk);
        ASSERT_EQ(range.begin, at);
        ASSERT_LE(range.size(), 10'000u);
        at = range.end;
      }
      ASSERT_EQ(at, floats);
    }
  }
}

TEST(ChunkMap, GivesEveryServerTheSameBytesWithinFivePercent) {
  std::vector<std::uint64_t> sizes = sizes_to_try(1000, 100'000'000);
  for (std::uint64_t floats = 1000; floats < 1100; ++floats) sizes.push_back(floats);
  for (const std::uint64_t edge : {kMostChunkFloats, 8 * kMostChunkFloats}) {
    for (const std::uint64_t floats : {edge - 1, edge, edge + 1}) sizes.push_back(floats);
  }
  for (const std::uint64_t floats : sizes) {
    for (std::uint32_t servers = 1; servers <= 8; ++servers) {
      const ChunkMap map(floats, servers);
      for (std::uint32_t server = 0; server < servers; ++server) {
        std::uint64_t mine = 0;
        for (const std::uint32_t chunk : map.chunks_of(server)) mine += map.floats_of(chunk).size();
        const double even = static_cast<double>(floats) / servers;
        ASSERT_NEAR(static_cast<double>(mine), even, 0.05 * even)
            << floats << " floats, server " << server << " of " << servers;
      }
    }
  }
}

TEST(ChunkMap, GivesEveryChunkToOneServerAndNeighboursToDifferentOnes) {
  const ChunkMap map(1'000'000, 3, 1000);
  std::vector<std::uint32_t> owners(map.chunks(), 99);
  for (std::uint32_t server = 0; server < 3; ++server) {
    for (const std::uint32_t chunk : map.chunks_of(server)) {
      EXPECT_EQ(owners[chunk], 99u);
      EXPECT_EQ(map.server_of(chunk), server);
      owners[chunk] = server;
    }
  }
  EXPECT_EQ(std::ranges::count(owners, 99u), 0);
  EXPECT_EQ(std::ranges::adjacent_find(owners), owners.end());
}

TEST(ChunkMap, FindsTheChunksThatOverlapARange) {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t floats = 1 + random.below(300);
    const ChunkMap map(floats, static_cast<std::uint32_t>(1 + random.below(8)),
                       1 + random.below(40));
    for (int j = 0; j < 50; ++j) {
      const std::uint64_t begin = random.below(floats);
      const Range wanted{begin, begin + 1 + random.below(floats - begin)};
      const Range found = map.overlapping(wanted);
      for (std::uint32_t chunk = 0; chunk < map.chunks(); ++chunk) {
        const Range range = map.floats_of(chunk);
        if (range.empty()) continue;  // in the range of chunks or not, it carries nothing
        const bool overlaps = range.begin < wanted.end && wanted.begin < range.end;
        ASSERT_EQ(found.contains(chunk), overlaps)
            << "chunk " << chunk << " and floats " << wanted.begin << " to " << wanted.end;
      }
    }
  }
}

TEST(ChunkMap, NothingOverlapsAnEmptyRange) {
  EXPECT_TRUE(ChunkMap(1000, 2).overlapping({7, 7}).empty());
}

TEST(ChunkMap, OfFewerFloatsThanServersLeavesSomeWithNothing) {
  const ChunkMap map(2, 5);
  EXPECT_EQ(map.chunks(), 5u);
  EXPECT_EQ(map.floats_of(1), (Range{1, 2}));
  EXPECT_TRUE(map.floats_of(2).empty());
  EXPECT_EQ(map.overlapping({0, 2}), (Range{0, 2}));
}

}  // namespace
}  // namespace paceline

#include "exchange/tree_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "data/share.h"

namespace paceline {
namespace {

constexpr std::size_t kSumFloats = 37;

// Values of very different size: the order of additions shows in the last bits.
std::vector<float> tile_values(std::uint64_t tile) {
  Random random(tile + 1);
  std::vector<float> values(kSumFloats);
  for (float& value : values) {
    value = static_cast<float>(random.normal() * std::pow(10, 6 * random.uniform() - 3));
  }
  return values;
}

// The definition, by recursion: an aligned node is its left half plus its right half.
std::vector<float> node_sum(Range node) {
  if (node.size() == 1) return tile_values(node.begin);
  const std::uint64_t middle = node.begin + node.size() / 2;
  std::vector<float> sum = node_sum({node.begin, middle});
  const std::vector<float> right = node_sum({middle, node.end});
  for (std::size_t i = 0; i < kSumFloats; ++i) sum[i] += right[i];
  return sum;
}

// Nodes that are left over are added from the right.
std::vector<float> root_sum(std::uint64_t tiles) {
  const std::vector<Range> nodes = tree_nodes({0, tiles});
  std::vector<float> sum = node_sum(nodes.back());
  for (std::size_t n = nodes.size() - 1; n-- > 0;) {
    const std::vector<float> left = node_sum(nodes[n]);
    for (std::size_t i = 0; i < kSumFloats; ++i) sum[i] += left[i];
  }
  return sum;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

std::vector<std::uint32_t> root_bits(const TreeSum& sum, std::uint64_t tiles) {
  std::vector<float> out(kSumFloats);
  sum.root(tiles, out);
  return bits(out);
}

template <typename T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

// Consecutive shares of random length, as any assignment might cut them.
std::vector<Range> random_shares(std::uint64_t tiles, Random& random) {
  std::vector<Range> shares;
  for (std::uint64_t at = 0; at < tiles;) {
    const std::uint64_t length = 1 + random.below(tiles - at);
    shares.push_back({at, at + length});
    at += length;
  }
  return shares;
}

// What one worker sends for its share: the sums of the largest nodes in it.
std::vector<std::pair<Range, std::vector<float>>> contribution(Range share, Random& random) {
  std::vector<std::uint64_t> tiles;
  for (std::uint64_t tile = share.begin; tile < share.end; ++tile) tiles.push_back(tile);
  shuffle(tiles, random);
  TreeSum sum(kSumFloats);
  for (const std::uint64_t tile : tiles) sum.add({tile, tile + 1}, tile_values(tile));
  std::vector<std::pair<Range, std::vector<float>>> nodes;
  for (const auto& [begin, node] : sum.nodes()) nodes.push_back(node);
  return nodes;
}

TEST(TreeSum, HasTheSameBitsUnderAnyCutAndOrder) {
  Random random(4);
  for (const std::uint64_t tiles : {1, 2, 3, 5, 8, 13, 31, 64, 100}) {
    const std::vector<std::uint32_t> expected = bits(root_sum(tiles));
    for (int i = 0; i < 40; ++i) {
      std::vector<Range> shares = random_shares(tiles, random);
      shuffle(shares, random);
      TreeSum server(kSumFloats);
      for (const Range& share : shares) {
        for (const auto& [node, values] : contribution(share, random)) server.add(node, values);
      }
      ASSERT_EQ(root_bits(server, tiles), expected) << tiles << " tiles, cut " << i;
    }
  }
}

TEST(TreeSum, HasTheSameBitsUnderAnyOrderOfNodes) {
  Random random(6);
  const std::uint64_t tiles = 45;
  const std::vector<std::uint32_t> expected = bits(root_sum(tiles));
  TreeSum server(kSumFloats);
  for (int i = 0; i < 40; ++i) {
    std::vector<std::pair<Range, std::vector<float>>> nodes;
    for (const Range& share : random_shares(tiles, random)) {
      for (auto& node : contribution(share, random)) nodes.push_back(std::move(node));
    }
    shuffle(nodes, random);
    server.clear();
    for (const auto& [node, values] : nodes) server.add(node, values);
    ASSERT_EQ(root_bits(server, tiles), expected);
  }
}

TEST(TreeSum, CanBeUsedAgainForOtherSizes) {
  TreeSum sum(kSumFloats);
  for (std::uint64_t tile = 0; tile < 5; ++tile) sum.add({tile, tile + 1}, tile_values(tile));
  for (const std::size_t floats : {3, 0, 90}) {
    sum.reset(floats);
    EXPECT_TRUE(sum.nodes().empty());
    for (std::uint64_t tile = 0; tile < 3; ++tile) {
      sum.add({tile, tile + 1}, std::vector<float>(floats, 2));
    }
    std::vector<float> out(floats);
    sum.root(3, out);
    EXPECT_EQ(out, std::vector<float>(floats, 6));
  }
}

TEST(TreeSum, KeepsExactlyTheNodesOfAShare) {
  for (std::uint64_t begin = 0; begin < 20; ++begin) {
    for (std::uint64_t end = begin + 1; end <= 40; ++end) {
      TreeSum sum(1);
      for (std::uint64_t tile = begin; tile < end; ++tile) {
        sum.add({tile, tile + 1}, std::vector<float>{1});
      }
      std::vector<Range> nodes;
      for (const auto& [first, node] : sum.nodes()) {
        nodes.push_back(node.first);
        ASSERT_EQ(node.second.front(), static_cast<float>(node.first.size()));
      }
      ASSERT_EQ(nodes, tree_nodes({begin, end}));
    }
  }
}

TEST(TreeSum, ShowsTheOrderOfAdditionsThatItFixes) {
  // A sum from left to right has other bits: the tests above would see a wrong order.
  std::vector<float> in_order = tile_values(0);
  for (std::uint64_t tile = 1; tile < 64; ++tile) {
    const std::vector<float> values = tile_values(tile);
    for (std::size_t i = 0; i < kSumFloats; ++i) in_order[i] += values[i];
  }
  EXPECT_NE(bits(in_order), bits(root_sum(64)));
}

}  // namespace
}  // namespace paceline

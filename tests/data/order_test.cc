#include "data/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace paceline {
namespace {

std::vector<std::uint64_t> epoch_of(const Order& order, std::uint64_t epoch, std::uint64_t size) {
  std::vector<std::uint64_t> examples(size);
  for (std::uint64_t i = 0; i < size; ++i) examples[i] = order.example(epoch, i);
  return examples;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> values) {
  std::ranges::sort(values);
  return values;
}

std::vector<std::uint64_t> counting(std::uint64_t size) {
  return epoch_of(Order({.kind = OrderKind::kSequential}, size), 0, size);
}

OrderOptions blocks(std::uint64_t block, std::uint64_t window, std::uint64_t seed = 5) {
  return {.kind = OrderKind::kBlocks, .seed = seed, .block = block, .window = window};
}

TEST(SequentialOrder, IsAsTheDataLies) {
  const Order order({.kind = OrderKind::kSequential}, 5);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(order.example(3, i), i);
}

TEST(FullOrder, IsAnotherPermutationInEachEpochAndForEachSeed) {
  std::set<std::vector<std::uint64_t>> seen;
  for (const std::uint64_t seed : {1, 2}) {
    const Order order({.seed = seed}, 1000);
    for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
      const auto examples = epoch_of(order, epoch, 1000);
      EXPECT_EQ(sorted(examples), counting(1000));
      seen.insert(examples);
    }
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(FullOrder, IsTheSameWheneverAsked) {
  EXPECT_EQ(epoch_of(Order({.seed = 4}, 100), 7, 100), epoch_of(Order({.seed = 4}, 100), 7, 100));
}

TEST(BlocksOrder, IsAPermutationForEverySizeBlockAndWindow) {
  for (const std::uint64_t size : {1, 2, 7, 31, 32, 33, 100, 101, 127}) {
    for (const std::uint64_t block : {1, 2, 3, 8, 10, 32, 1000}) {
      for (const std::uint64_t window : {1, 2, 3, 5, 1000}) {
        const Order order(blocks(block, window), size);
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
          ASSERT_EQ(sorted(epoch_of(order, epoch, size)), counting(size))
              << size << " examples, block " << block << ", window " << window;
        }
      }
    }
  }
}

TEST(BlocksOrder, WorksForTheLargestBlocksAndWindows) {
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(sorted(epoch_of(Order(blocks(most, most), 100), 0, 100)), counting(100));
  EXPECT_EQ(sorted(epoch_of(Order(blocks(3, most), 100), 0, 100)), counting(100));
}

TEST(BlocksOrder, ChangesWithTheEpochAndTheSeed) {
  const Order order(blocks(4, 3), 100);
  const auto first = epoch_of(order, 0, 100);
  EXPECT_NE(epoch_of(order, 1, 100), first);
  EXPECT_NE(epoch_of(Order(blocks(4, 3, 6), 100), 0, 100), first);
}

TEST(BlocksOrder, TouchesOnlyTheBlocksOfOneWindowAtATime) {
  constexpr std::uint64_t kBlock = 10, kWindow = 4, kSize = 400;
  const auto examples = epoch_of(Order(blocks(kBlock, kWindow), kSize), 0, kSize);
  for (std::uint64_t begin = 0; begin < kSize; begin += kBlock * kWindow) {
    std::set<std::uint64_t> touched;
    for (std::uint64_t i = begin; i < begin + kBlock * kWindow; ++i) {
      touched.insert(examples[i] / kBlock);
    }
    EXPECT_EQ(touched.size(), kWindow);
  }
}

TEST(BlocksOrder, ShufflesBlocksAndTheRowsOfAWindow) {
  constexpr std::uint64_t kBlock = 10, kSize = 1000;
  const auto examples = epoch_of(Order(blocks(kBlock, 2), kSize), 0, kSize);
  int next_is_successor = 0, same_block = 0;
  for (std::uint64_t i = 1; i < kSize; ++i) {
    next_is_successor += examples[i] == examples[i - 1] + 1;
    same_block += examples[i] / kBlock == i / kBlock;
  }
  EXPECT_LT(next_is_successor, 100);
  EXPECT_LT(same_block, 100);
}

TEST(BlocksOrder, PutsTheShortLastBlockIntoADifferentWindowNowAndThen) {
  constexpr std::uint64_t kSize = 103;  // ten blocks of 10 and a tail of 3
  const Order order(blocks(10, 2), kSize);
  std::set<std::uint64_t> windows;
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const auto examples = epoch_of(order, epoch, kSize);
    std::vector<std::uint64_t> places;
    for (std::uint64_t i = 0; i < kSize; ++i) {
      if (examples[i] >= 100) places.push_back(i);
    }
    ASSERT_EQ(places.size(), 3u);
    EXPECT_LT(places.back() - places.front(), 23u);
    windows.insert(places.front() / 20);
  }
  EXPECT_EQ(windows.size(), 5u);
}

TEST(Order, ExamplesOfARangeAreThoseOfItsPositions) {
  for (const auto kind : {OrderKind::kFull, OrderKind::kBlocks, OrderKind::kSequential}) {
    const Order order({.kind = kind, .seed = 8, .block = 7, .window = 3}, 100);
    const auto expected = epoch_of(order, 2, 100);
    std::vector<std::uint64_t> some(30);
    order.examples(2, {40, 70}, some);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), expected.begin() + 40));
    order.examples(2, {5, 5}, {});
  }
}

TEST(Order, RefusesBlocksAndWindowsOfNothing) {
  EXPECT_THROW(Order(blocks(0, 1), 10), ConfigError);
  EXPECT_THROW(Order(blocks(1, 0), 10), ConfigError);
}

}  // namespace
}  // namespace paceline

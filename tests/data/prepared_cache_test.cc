#include "data/prepared_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"

namespace paceline {
namespace {

PreparedBlock block_of(std::size_t rows, std::uint8_t label = 0) {
  PreparedBlock block;
  block.starts.resize(rows + 1);
  block.labels.resize(rows, label);
  return block;
}

TEST(PreparedCache, KeepsWhatWasAskedForLast) {
  PreparedCache cache([](std::uint64_t) { return block_of(10); }, 35);
  for (const std::uint64_t block : {0, 1, 2, 0, 3}) cache.find(block);
  EXPECT_EQ(cache.rows(), 30U);
  EXPECT_EQ(cache.decoded(), 4U);
  cache.find(0);
  EXPECT_EQ(cache.decoded(), 4U);
  cache.find(1);  // went when 3 came
  EXPECT_EQ(cache.decoded(), 5U);
}

TEST(PreparedCache, KeepsOneBlockThatIsTooLarge) {
  PreparedCache cache([](std::uint64_t block) { return block_of(10 + block); }, 5);
  for (std::uint64_t block = 0; block < 4; ++block) {
    EXPECT_EQ(cache.find(block)->size(), 10 + block);
    EXPECT_EQ(cache.find(block)->size(), 10 + block);
    EXPECT_EQ(cache.rows(), 10 + block);
  }
  EXPECT_EQ(cache.decoded(), 4U);
}

TEST(PreparedCache, DecodesABlockOnceForAllThreads) {
  constexpr std::uint64_t kBlocks = 20;
  PreparedCache cache(
      [](std::uint64_t block) { return block_of(1, static_cast<std::uint8_t>(block)); }, kBlocks);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t block = 0; block < kBlocks; ++block) {
          if (cache.wait(block)->labels[0] != block) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.decoded(), kBlocks);
}

TEST(PreparedCache, TriesAgainWhatFailed) {
  int calls = 0;
  PreparedCache cache(
      [&calls](std::uint64_t) {
        if (++calls < 3) throw DataError("attempt {}", calls);
        return block_of(1);
      },
      10);
  EXPECT_THROW(cache.find(7), DataError);
  EXPECT_THROW(cache.wait(7), DataError);
  EXPECT_EQ(cache.wait(7)->size(), 1U);
  EXPECT_EQ(cache.rows(), 1U);
}

}  // namespace
}  // namespace paceline

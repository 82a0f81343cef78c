#include "exchange/blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::size_t> listed(const std::optional<BlockSet>& set) {
  std::vector<std::size_t> blocks;
  for (std::size_t block = 0; block < set.value().blocks(); ++block) {
    if (set->contains(block)) blocks.push_back(block);
  }
  EXPECT_EQ(set->count(), blocks.size());
  return blocks;
}

TEST(Blocks, ThoseThatAreNotZero) {
  std::vector<float> values(200 * kBlockFloats + 5);
  EXPECT_THAT(listed(nonzero_blocks(values)), IsEmpty());
  values[7 * kBlockFloats] = 1;
  values[9 * kBlockFloats - 1] = -0.0f;  // has a bit set
  values.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(nonzero_blocks(values)->blocks(), 201U);
  EXPECT_THAT(listed(nonzero_blocks(values)), ElementsAre(7, 8, 200));
}

TEST(Blocks, WhenMostAreNotZeroAllMayAsWellTravel) {
  std::vector<float> values(100 * kBlockFloats);
  for (std::size_t block = 0; block < 50; ++block) values[2 * block * kBlockFloats] = 1;
  EXPECT_EQ(nonzero_blocks(values)->count(), 50U);
  values[kBlockFloats] = 1;
  EXPECT_FALSE(nonzero_blocks(values).has_value());
  EXPECT_FALSE(nonzero_blocks(std::vector<float>(3, 1.0f)).has_value());
}

TEST(Blocks, ThoseThatHaveChanged) {
  std::vector<float> before(10 * kBlockFloats, 2);
  before[5] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> after = before;
  EXPECT_THAT(listed(changed_blocks(before, after)), IsEmpty());
  after[3 * kBlockFloats + 1] = 0;
  EXPECT_THAT(listed(changed_blocks(before, after)), ElementsAre(3));
}

TEST(BlockHistory, KnowsWhatHasChangedSinceAnyVersion) {
  std::vector<float> values(10 * kBlockFloats);
  BlockHistory history;
  history.start(4);
  const auto change = [&](std::uint64_t version, std::initializer_list<std::size_t> blocks) {
    const std::vector<float> before = values;
    for (const std::size_t block : blocks) values[block * kBlockFloats] += 1;
    history.change(version, before, values);
  };
  const auto since = [&](std::uint64_t version) { return history.since(version, values.size()); };
  EXPECT_THAT(listed(since(4)), IsEmpty());
  EXPECT_FALSE(since(3).has_value());  // nobody has seen these steps
  change(5, {1, 2});
  change(6, {2, 8});
  EXPECT_THAT(listed(since(4)), ElementsAre(1, 2, 8));
  EXPECT_THAT(listed(since(5)), ElementsAre(2, 8));
  EXPECT_THAT(listed(since(6)), IsEmpty());
  change(7, {0, 3, 4, 5});
  EXPECT_FALSE(since(4).has_value());  // too many
  EXPECT_THAT(listed(since(6)), ElementsAre(0, 3, 4, 5));
  change(8, {0, 1, 2, 3, 4, 5, 6});
  EXPECT_FALSE(since(7).has_value());
  EXPECT_THAT(listed(since(8)), IsEmpty());
  change(9, {6});
  EXPECT_THAT(listed(since(8)), ElementsAre(6));
  EXPECT_FALSE(since(7).has_value());
}

}  // namespace
}  // namespace paceline

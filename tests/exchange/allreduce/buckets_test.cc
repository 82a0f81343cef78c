#include "exchange/allreduce/buckets.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(BucketsTest, CoverTheVectorWithoutGaps) {
  const Buckets buckets(1003, 100);
  EXPECT_EQ(buckets.size(), 11U);
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(buckets.floats(i).begin, next);
    EXPECT_LE(buckets.floats(i).size(), 100U);
    next = buckets.floats(i).end;
  }
  EXPECT_EQ(next, 1003U);
}

TEST(BucketsTest, EveryFloatLiesInTheBucketThatOverlapsIt) {
  const Buckets buckets(1003, 100);
  for (std::uint64_t place = 0; place < 1003; ++place) {
    const Range found = buckets.overlapping({place, place + 1});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_LE(buckets.floats(found.begin).begin, place);
    EXPECT_GT(buckets.floats(found.begin).end, place);
  }
  EXPECT_EQ(buckets.overlapping({0, 1003}), (Range{0, 11}));
  EXPECT_TRUE(buckets.overlapping({5, 5}).empty());
}

TEST(BucketsTest, KeepWhatIsApartWhole) {
  const std::vector<Range> apart = {{20, 50}, {50, 65}};
  const Buckets buckets(100, 10, apart);
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < buckets.size(); ++i) ranges.push_back(buckets.floats(i));
  EXPECT_EQ(ranges,
            (std::vector<Range>{
                {0, 10}, {10, 20}, {20, 50}, {50, 65}, {65, 74}, {74, 83}, {83, 92}, {92, 100}}));
  EXPECT_EQ(buckets.overlapping({49, 51}), (Range{2, 4}));
}

TEST(BucketsTest, LeaveFromTheBackWhenTheyAreComplete) {
  Buckets buckets(30, 10);
  EXPECT_EQ(buckets.take(), std::nullopt);
  buckets.ready({0, 10});
  EXPECT_EQ(buckets.take(), std::nullopt) << "the last one goes first, on every worker";
  buckets.ready({25, 30});
  EXPECT_EQ(buckets.take(), std::nullopt);
  buckets.ready({15, 25});
  EXPECT_EQ(buckets.take(), 2U);
  EXPECT_EQ(buckets.take(), std::nullopt);
  buckets.ready({10, 15});
  EXPECT_EQ(buckets.take(), 1U);
  EXPECT_EQ(buckets.take(), 0U);
  EXPECT_TRUE(buckets.all_taken());
  EXPECT_EQ(buckets.take(), std::nullopt);
  buckets.clear();
  EXPECT_FALSE(buckets.all_taken());
}

}  // namespace
}  // namespace paceline

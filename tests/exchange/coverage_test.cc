#include "exchange/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Set = std::set<std::uint64_t>;

// The runs of consecutive numbers in a set.
std::vector<Range> runs(const Set& set) {
  std::vector<Range> ranges;
  for (const std::uint64_t value : set) {
    if (ranges.empty() || ranges.back().end != value) ranges.push_back({value, value});
    ++ranges.back().end;
  }
  return ranges;
}

Overlap expected_overlap(const Set& seen, Range tiles) {
  std::uint64_t common = 0;
  for (std::uint64_t tile = tiles.begin; tile < tiles.end; ++tile) common += seen.count(tile);
  if (common == 0) return Overlap::kNew;
  return common == tiles.size() ? Overlap::kDuplicate : Overlap::kPartial;
}

TEST(Coverage, AgreesWithASet) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t tiles = 1 + random.below(40);
    Coverage coverage(tiles);
    Set seen;
    Set missing;
    for (std::uint64_t tile = 0; tile < tiles; ++tile) missing.insert(tile);
    for (int j = 0; j < 60; ++j) {
      const std::uint64_t begin = random.below(tiles + 1);
      const Range range{begin, begin + random.below(std::min<std::uint64_t>(6, tiles - begin + 1))};
      const Overlap overlap = coverage.classify(range);
      ASSERT_EQ(overlap, expected_overlap(seen, range));
      if (overlap == Overlap::kNew) {
        coverage.add(range);
        for (std::uint64_t tile = range.begin; tile < range.end; ++tile) {
          seen.insert(tile);
          missing.erase(tile);
        }
      }
      ASSERT_EQ(coverage.missing(), runs(missing));
      ASSERT_EQ(coverage.lacks(), missing.size());
      ASSERT_EQ(coverage.complete(), missing.empty());
      ASSERT_EQ(coverage.touched(), !seen.empty());
    }
  }
}

TEST(Coverage, OfNoTilesIsCompleteAndUntouched) {
  const Coverage coverage;
  EXPECT_TRUE(coverage.complete());
  EXPECT_FALSE(coverage.touched());
  EXPECT_THAT(coverage.missing(), IsEmpty());
}

TEST(RangeSet, AgreesWithASet) {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    RangeSet ranges;
    Set set;
    for (int j = 0; j < 80; ++j) {
      if (random.below(20) == 0) {
        const std::uint64_t end = random.below(30);
        ranges.add_below(end);
        for (std::uint64_t value = 0; value < end; ++value) set.insert(value);
      } else {
        const std::uint64_t value = random.below(50);
        ASSERT_EQ(ranges.add(value), set.insert(value).second);
      }
      ASSERT_EQ(ranges.ranges(), runs(set));
      ASSERT_EQ(ranges.size(), set.size());
      std::uint64_t first_missing = 0;
      while (set.contains(first_missing)) ++first_missing;
      ASSERT_EQ(ranges.first_missing(), first_missing);
      for (std::uint64_t value = 0; value < 52; ++value) {
        ASSERT_EQ(ranges.contains(value), set.contains(value));
      }
    }
  }
}

TEST(RangeSet, StaysShortWhenItFillsUpNearlyInOrder) {
  RangeSet set;
  for (std::uint64_t value = 0; value < 1000; value += 2) {
    set.add(value + 1);
    set.add(value);
  }
  EXPECT_THAT(set.ranges(), ElementsAre(Range{0, 1000}));
}

}  // namespace
}  // namespace paceline

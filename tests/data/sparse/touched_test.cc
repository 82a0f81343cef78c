#include "data/sparse/touched.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace paceline {
namespace {

using testing::ElementsAre;

TEST(TouchedKeys, AreAscendingAndOnce) {
  const std::vector<Key> hot = {50, 7};
  std::vector<std::uint32_t> numbers = {9, kHotBit | 0, 3, kHotBit | 1, 9, 7, kHotBit | 1};
  TouchedKeys touched;
  touched.begin(hot);
  touched.number(numbers, numbers);
  std::vector<Key> keys;
  touched.sort(keys);
  touched.place(numbers);
  EXPECT_THAT(keys, ElementsAre(3, 7, 9, 50));  // 7 is hot in some rows and not in others
  EXPECT_THAT(numbers, ElementsAre(2, 3, 0, 1, 2, 1, 1));
}

TEST(TouchedKeys, OfNothingAreNone) {
  TouchedKeys touched;
  touched.begin({});
  std::vector<Key> keys = {1};
  touched.sort(keys);
  EXPECT_TRUE(keys.empty());
}

// More than it starts with room for, keys as large as they get, and again with fewer.
TEST(TouchedKeys, LeadBackToWhatTheyCameFrom) {
  Random random(1);
  TouchedKeys touched;
  for (const std::size_t count : {30'000, 100, 5000}) {
    std::vector<Key> all(count);
    for (Key& key : all) {
      key = static_cast<Key>(random.below((std::uint64_t{1} << (1 + random.below(kMostBits))) + 1));
    }
    std::vector<std::uint32_t> places(count);
    touched.begin({});
    for (std::size_t at = 0; at < count; at += 50) {
      touched.number(std::span(all).subspan(at, 50), std::span(places).subspan(at, 50));
    }
    std::vector<Key> keys;
    touched.sort(keys);
    touched.place(places);
    const std::set<Key> expected(all.begin(), all.end());
    ASSERT_EQ(keys, std::vector<Key>(expected.begin(), expected.end()));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(keys[places[i]], all[i]);
  }
}

}  // namespace
}  // namespace paceline

#include "data/sparse/hot_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace paceline {
namespace {

TEST(HotKeys, AreThoseOfASampleThatOccurOften) {
  std::vector<Key> sample;
  for (Key key = 1; key <= 20; ++key) sample.insert(sample.end(), key, key * 1000);
  const std::vector<Key> keys = most_frequent_keys(sample);
  ASSERT_EQ(keys.size(), 13U);  // 20 to 8 times
  EXPECT_EQ(keys.front(), 20'000U);
  EXPECT_EQ(keys.back(), 8'000U);
}

TEST(HotKeys, AreFoundAndOthersAreNot) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{50}, kMostHotKeys}) {
    Random random(count + 1);
    std::set<Key> chosen;
    while (chosen.size() < count) chosen.insert(static_cast<Key>(random.below(1U << 30)));
    const HotKeys hot(std::vector<Key>(chosen.begin(), chosen.end()));
    // Few find no room.
    EXPECT_GE(hot.keys().size(), count - count / 20);
    for (std::size_t i = 0; i < hot.keys().size(); ++i) {
      EXPECT_EQ(hot.in_list(hot.keys()[i]), kHotBit | static_cast<Key>(i));
    }
    const std::set<Key> kept(hot.keys().begin(), hot.keys().end());
    for (int i = 0; i < 1000; ++i) {
      const auto key = static_cast<Key>(random.below((1U << 30) + 1));
      EXPECT_TRUE(kept.contains(key) || hot.in_list(key) == key);
    }
    for (const Key key : chosen) {
      EXPECT_TRUE(kept.contains(key) || hot.in_list(key) == key);
    }
  }
}

TEST(HotKeys, TheMostFrequentHaveRoom) {
  std::vector<Key> keys;
  for (Key key = 0; key < kMostHotKeys; ++key) keys.push_back(key * 4096);
  const HotKeys hot(keys);
  EXPECT_EQ(hot.in_list(keys[0]), kHotBit);
  EXPECT_EQ(hot.in_list(keys[1]), kHotBit | 1);
}

}  // namespace
}  // namespace paceline

#include "data/sparse/row_bounds.h"

#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

constexpr KeyBounds kBounds{1000, kHotBit | 7};

// A row with these keys and one value.
std::vector<std::uint32_t> row(const std::vector<Key>& keys) {
  std::vector<std::uint32_t> words = {0, static_cast<std::uint32_t>(keys.size()), 1};
  words.insert(words.end(), keys.begin(), keys.end());
  words.push_back(0);
  return words;
}
bool holds(const std::vector<std::uint32_t>& block, std::uint32_t place = 0) {
  return holds_rows(block, std::span(&place, 1), kBounds);
}

// Vectors of any length, and what is left of them.
TEST(RowBounds, HoldForRowsOfAnyLengthUnlessOneKeyIsTooLarge) {
  for (std::size_t count = 1; count < 70; ++count) {
    std::vector<Key> keys(count, 1000);
    keys[count / 2] = kHotBit | 7;
    EXPECT_TRUE(holds(row(keys))) << count;
    for (std::size_t wrong = 0; wrong < count; ++wrong) {
      for (const Key key : {Key{1001}, kHotBit | 8, kHotBit - 1, ~Key{0}}) {
        std::vector<Key> bad = keys;
        bad[wrong] = key;
        EXPECT_FALSE(holds(row(bad))) << count << " keys, number " << wrong << ": " << key;
      }
    }
  }
}

TEST(RowBounds, DoNotHoldForRowsThatEndBehindTheBlock) {
  const std::vector<std::uint32_t> whole = row({1, 2, 3});
  EXPECT_TRUE(holds(whole));
  EXPECT_FALSE(holds({whole.begin(), whole.end() - 1}));
  EXPECT_FALSE(holds(whole, 5));
  std::vector<std::uint32_t> many = whole;
  many[1] = ~0U;
  EXPECT_FALSE(holds(many));
  many = whole;
  many[2] = 4;  // more values than keys
  EXPECT_FALSE(holds(many));
}

}  // namespace
}  // namespace paceline

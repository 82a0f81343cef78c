#include "base/range.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Range, ContainsItsBeginButNotItsEnd) {
  const Range range{3, 5};
  EXPECT_EQ(range.size(), 2u);
  EXPECT_FALSE(range.contains(2));
  EXPECT_TRUE(range.contains(3));
  EXPECT_TRUE(range.contains(4));
  EXPECT_FALSE(range.contains(5));
  EXPECT_TRUE((Range{4, 4}).empty());
}

TEST(EvenPart, PartsFollowEachOtherAndDifferByAtMostOne) {
  for (std::uint64_t length = 0; length < 40; ++length) {
    for (std::uint64_t parts = 1; parts < 12; ++parts) {
      std::uint64_t at = 0;
      for (std::uint64_t i = 0; i < parts; ++i) {
        const Range part = even_part(length, parts, i);
        ASSERT_EQ(part.begin, at);
        ASSERT_EQ(part.size(), length / parts + (i < length % parts ? 1 : 0));
        at = part.end;
      }
      ASSERT_EQ(at, length);
    }
  }
}

}  // namespace
}  // namespace paceline

#include "lab/statistics.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Statistics, QuartilesOfNineValuesAreValuesOfTheirs) {
  EXPECT_EQ(spread_of({9, 1, 8, 2, 7, 3, 6, 4, 5}), (Spread{3, 5, 7}));
}

TEST(Statistics, QuartilesBetweenTwoValuesAreInterpolated) {
  EXPECT_EQ(spread_of({4, 1, 3, 2}), (Spread{1.75, 2.5, 3.25}));
  EXPECT_EQ(spread_of({20, 10}), (Spread{12.5, 15, 17.5}));
}

TEST(Statistics, OneValueIsItsOwnSpread) {
  EXPECT_EQ(spread_of({3}), (Spread{3, 3, 3}));
}

TEST(Statistics, OneOutlierMovesNoQuartile) {
  EXPECT_EQ(spread_of({1, 2, 3, 4, 5, 6, 7, 8, 1e9}), (Spread{3, 5, 7}));
}

}  // namespace
}  // namespace paceline

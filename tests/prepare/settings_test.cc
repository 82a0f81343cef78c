#include "prepare/settings.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

TEST(PrepareSettings, TheMostFrequentRatingCountsAndOfSeveralTheLowest) {
  EXPECT_EQ(settle(std::vector<RatingCount>{{1, 100, 0}, {3, 400, 0}, {2, 500, 0}}), 400);
  EXPECT_EQ(settle(std::vector<RatingCount>{{2, 200, 0}, {2, 500, 0}}), 200);
  EXPECT_EQ(settle(std::vector<RatingCount>{{1, 300, 0}}), 300);
}

TEST(PrepareSettings, RatingsUpToThreeAreNegativeAndFromFourOnPositive) {
  const PrepareSettings settings;
  EXPECT_EQ(label_of(100, settings), 0);
  EXPECT_EQ(label_of(300, settings), 0);
  EXPECT_EQ(label_of(350, settings), std::nullopt);
  EXPECT_EQ(label_of(400, settings), 1);
  EXPECT_EQ(label_of(500, settings), 1);
}

TEST(PrepareSettings, PartsHaveTheirShares) {
  PrepareSettings settings;
  settings.test_share = 0.2;
  settings.validation_share = 0.1;
  std::array<int, kReviewParts> rows{};
  Random random(2);
  for (int i = 0; i < 20'000; ++i)
    ++rows[static_cast<std::size_t>(part_of(random.bits(), settings))];
  EXPECT_NEAR(rows[2], 4'000, 300);
  EXPECT_NEAR(rows[1], 2'000, 250);
  settings.test_share = settings.validation_share = 0;
  EXPECT_EQ(part_of(0, settings), ReviewPart::kTrain);
}

TEST(PrepareSettings, ThatContradictThemselvesAreRefused) {
  const auto refused = [](auto change) {
    PrepareSettings settings;
    change(settings);
    EXPECT_THROW(check_settings(settings), ConfigError);
  };
  EXPECT_NO_THROW(check_settings({}));
  refused([](PrepareSettings& s) { s.positive_from = 3; });
  refused([](PrepareSettings& s) { s.test_share = 1; });
  refused([](PrepareSettings& s) { s.validation_share = -0.1; });
  refused([](PrepareSettings& s) { s.length = 0; });
  refused([](PrepareSettings& s) { s.vocabulary = 0; });
  refused([](PrepareSettings& s) { s.range = {5, 1}; });
}

}  // namespace
}  // namespace paceline

#include "model/linear/sparse_linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace paceline {
namespace {

using Kind = SparseLinear::Kind;

// More than one product's worth of them.
TEST(ScoreLoss, IsTheSumOfTheExamplesLosses) {
  ScoreLoss all(Kind::kLogistic);
  Random random(1);
  double sum = 0;
  std::uint64_t correct = 0;
  for (int i = 0; i < 2500; ++i) {
    const auto score = static_cast<float>(10 * random.normal());
    const float label = random.uniform() < 0.5 ? 0.0F : 1.0F;
    const double s = score;
    const float slope = all.add(score, label);
    EXPECT_NEAR(slope, 1 / (1 + std::exp(-s)) - label, 1e-6);
    sum += std::log1p(std::exp(label > 0 ? -s : s));
    correct += (score > 0) == (label > 0) ? 1 : 0;
  }
  const Loss loss = all.loss();
  EXPECT_NEAR(loss.sum, sum, 1e-6 * sum);
  EXPECT_EQ(loss.examples, 2500U);
  EXPECT_EQ(loss.predictions, 2500U);
  EXPECT_EQ(loss.weight, 2500.0);
  EXPECT_EQ(loss.correct, correct);
}

TEST(ScoreLoss, OfASureAndRightAnswerIsNoneAndOfAWrongOneItsSize) {
  ScoreLoss right(Kind::kLogistic);
  EXPECT_EQ(right.add(200, 1), 0);
  EXPECT_EQ(right.loss().sum, 0);
  ScoreLoss wrong(Kind::kLogistic);
  EXPECT_EQ(wrong.add(200, 0), 1);
  EXPECT_EQ(wrong.loss().sum, 200);
}

TEST(ScoreLoss, OfWhatIsNoNumberIsNone) {
  ScoreLoss all(Kind::kLogistic);
  all.add(std::numeric_limits<float>::quiet_NaN(), 1);
  EXPECT_TRUE(std::isnan(all.loss().sum));
}

TEST(ScoreLoss, OfNumbersIsHalfTheSquaredError) {
  ScoreLoss all(Kind::kRegression);
  EXPECT_EQ(all.add(3, 1), 2);
  EXPECT_EQ(all.add(0, 1), -1);
  EXPECT_EQ(all.loss().sum, 2.5);
  EXPECT_EQ(all.loss().predictions, 0U);
}

}  // namespace
}  // namespace paceline

#include "model/metrics.h"

#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

TEST(AreaUnderCurve, IsTheChanceOfRightOrder) {
  const std::vector<float> labels = {0, 1, 0, 1};
  EXPECT_DOUBLE_EQ(area_under_curve(std::vector<float>{1, 2, 3, 4}, labels), 0.75);
  EXPECT_DOUBLE_EQ(area_under_curve(std::vector<float>{1, 4, 2, 3}, labels), 1);
  EXPECT_DOUBLE_EQ(area_under_curve(std::vector<float>{1, 1, 1, 1}, labels), 0.5);
  EXPECT_DOUBLE_EQ(area_under_curve(std::vector<float>{1, 2}, std::vector<float>{1, 1}), 0.5);
}

Loss of_two_classes() {
  Loss loss;
  loss.sum = 8;
  loss.weight = 4;
  loss.examples = 4;
  loss.predictions = 4;
  loss.correct = 3;
  loss.positives = {1, 1, 2};
  return loss;
}

TEST(Metrics, OfClasses) {
  const Metrics metrics = class_metrics(of_two_classes(), true);
  EXPECT_DOUBLE_EQ(metrics.loss.mean(), 2);
  EXPECT_DOUBLE_EQ(*metrics.accuracy, 0.75);
  EXPECT_DOUBLE_EQ(*metrics.f1, 2.0 / 3);
  EXPECT_FALSE(metrics.rmse);
  EXPECT_FALSE(class_metrics(of_two_classes(), false).f1);
}

TEST(Metrics, OfNumbers) {
  const Metrics metrics = number_metrics(of_two_classes());
  EXPECT_DOUBLE_EQ(*metrics.rmse, 2);
  EXPECT_FALSE(metrics.accuracy);
}

}  // namespace
}  // namespace paceline

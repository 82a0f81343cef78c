#include "model/model.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Loss, AddsUpToTheLossOfBothBatches) {
  Loss loss{.sum = 3, .weight = 2, .examples = 2, .correct = 1, .predictions = 2};
  loss += Loss{.sum = 1, .weight = 6, .examples = 2, .correct = 2, .predictions = 2};
  EXPECT_EQ(loss.sum, 4);
  EXPECT_EQ(loss.mean(), 0.5);
  EXPECT_EQ(loss.examples, 4u);
  EXPECT_EQ(loss.accuracy(), 0.75);
}

TEST(Loss, OfNothingIsZero) {
  EXPECT_EQ(Loss{}.mean(), 0);
  EXPECT_EQ(Loss{}.accuracy(), 0);
}

}  // namespace
}  // namespace paceline

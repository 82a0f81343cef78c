#include "exchange/ps/row_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace paceline {
namespace {

using testing::ElementsAre;

Gradient row_gradient(std::vector<std::uint32_t> rows, const std::vector<float>& values) {
  Gradient gradient;
  gradient.values = std::make_shared<Buffer>(values.size() * sizeof(float));
  std::ranges::copy(values, gradient.values->as_floats().begin());
  gradient.rows = std::make_shared<const std::vector<std::uint32_t>>(std::move(rows));
  return gradient;
}

TEST(RowSteps, AddUpWhatContributionsHaveInCommon) {
  RowStep step(false);
  for (int again = 0; again < 2; ++again) {
    step.clear();
    step.add({0, 2}, row_gradient({1, 4}, {1, 2}));
    step.add({2, 4}, row_gradient({0, 4}, {8, 16}));
    EXPECT_THAT(step.sums(4).rows(), ElementsAre(0, 1, 4));
    EXPECT_THAT(step.sums(4).values(), ElementsAre(8, 1, 18));
  }
}

// 1e8 + 1 is 1e8: the sum of these depends on the order.
TEST(RowSteps, FollowTheTreeWhereTheOrderCounts) {
  const std::vector<float> tiles = {1e8F, 1, -1e8F, 0.37F};
  const float root = (tiles[0] + tiles[1]) + (tiles[2] + tiles[3]);
  RowStep step(true);
  step.add({3, 4}, row_gradient({3}, {tiles[3]}));
  step.add({0, 2}, row_gradient({3, 5}, {tiles[0] + tiles[1], 4}));
  step.add({2, 3}, row_gradient({1, 3}, {2, tiles[2]}));
  EXPECT_THAT(step.sums(4).rows(), ElementsAre(1, 3, 5));
  EXPECT_THAT(step.sums(4).values(), ElementsAre(2, root, 4));
  step.clear();  // other rows, and fewer
  step.add({0, 4}, row_gradient({7}, {root}));
  EXPECT_THAT(step.sums(4).rows(), ElementsAre(7));
  EXPECT_THAT(step.sums(4).values(), ElementsAre(root));
}

}  // namespace
}  // namespace paceline

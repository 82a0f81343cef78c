#include "optim/rows/row_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RowSums, AddsRowByRow) {
  RowSums sums;
  sums.add(std::vector<std::uint32_t>{2, 5, 9}, std::vector<float>{1, 2, 3});
  sums.add(std::vector<std::uint32_t>{1, 5, 9, 20}, std::vector<float>{10, 20, 30, 40});
  sums.add({}, {});
  EXPECT_THAT(sums.rows(), ElementsAre(1, 2, 5, 9, 20));
  EXPECT_THAT(sums.values(), ElementsAre(10, 1, 22, 33, 40));
  sums.clear();
  EXPECT_THAT(sums.rows(), IsEmpty());
}

// The rows that are given become what the dense optimizer makes of them; the others stay.
class RowUpdates : public testing::TestWithParam<OptimizerKind> {};

TEST_P(RowUpdates, AreThoseOfTheDenseOptimizer) {
  constexpr std::size_t kRows = 100;
  OptimizerOptions options;
  options.kind = GetParam();
  options.decay = 0.01;
  options.l1 = 0.02;
  const Optimizer dense(options);
  RowUpdate update(options);
  std::vector<TableRow> table(kRows);
  std::vector<float> values(kRows);
  std::vector<float> state(dense.slots() * kRows);
  Random random(4);
  for (std::uint64_t step = 1; step <= 20; ++step) {
    std::vector<float> gradient(kRows);
    std::vector<std::uint32_t> rows;
    std::vector<float> sums;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if (random.below(3) > 0) continue;
      gradient[row] = random.below(5) == 0 ? 0.0F : static_cast<float>(random.normal());
      rows.push_back(row);
      sums.push_back(gradient[row]);
    }
    const std::vector<TableRow> old = table;
    const StepScalars scalars{0.1, 0.25, step};
    std::vector<TableRow> before;
    update.apply(scalars, rows, sums, table, before);
    const GroupRange all{{0, kRows}, 1, 1, true};
    dense.apply(scalars, std::span(&all, 1), gradient, values, values, state, state);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(before[i].a, old[rows[i]].a);
    RowRule rule;
    rule.kind = options.kind;
    rule.rate = 0.1F;
    rule.l1 = 0.02F;
    rule.l2 = 0.01F;
    std::vector<float> weights(kRows);
    weights_of(rule, table, weights);
    ASSERT_EQ(weights, values) << step;  // bit for bit
    for (std::size_t row = 0; row < kRows; ++row) {
      EXPECT_NEAR(weight_of(rule, table[row]), weights[row], 1e-6);
    }
  }
}

// Where nothing was learned there is no weight, whatever the settings.
TEST(RowWeights, OfUntouchedRowsAreZero) {
  OptimizerOptions options;
  options.kind = OptimizerKind::kFtrl;
  options.beta = 0;
  const std::vector<TableRow> rows(19);
  std::vector<float> weights(19, 1);
  weights_of(row_rule(options, 0.1), rows, weights);
  EXPECT_THAT(weights, testing::Each(0));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, RowUpdates,
                         testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdagrad,
                                         OptimizerKind::kFtrl));

}  // namespace
}  // namespace paceline

#include "exchange/allreduce/factors.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

const Matrix kFc6{{0, 9216 * 4096}, 4096, 9216};
const Matrix kSmall{{0, 64 * 64}, 64, 64};

TEST(FactorsTest, CostWhatTheySend) {
  const FactorCost cost = cost_of(kFc6, 64, 2, 1);
  EXPECT_NEAR(cost.dense_bytes, 151e6, 1e6);  // AlexNet's largest layer, batch 32 each
  EXPECT_NEAR(cost.factor_bytes, 1.7e6, 0.1e6);
  EXPECT_NEAR(cost.dense_seconds, 1.2, 0.02);
  EXPECT_LT(cost.factor_seconds, 0.1);
}

TEST(FactorsTest, AreChosenWhereTheyAreCheaper) {
  const std::vector<Matrix> both = {kFc6, kSmall};
  const auto chosen = [&](std::uint64_t batch, const FactorOptions& options) {
    return choose_factored(both, batch, 2, options).size();
  };
  EXPECT_EQ(chosen(64, {}), 1U);
  EXPECT_EQ(chosen(100'000, {}), 0U);
  EXPECT_EQ(chosen(64, {FactorChoice::kAuto, 10'000}), 0U) << "a link that costs nothing";
  EXPECT_EQ(chosen(64, {FactorChoice::kNever, 1}), 0U);
  EXPECT_EQ(chosen(100'000, {FactorChoice::kAlways, 1}), 2U);
}

}  // namespace
}  // namespace paceline

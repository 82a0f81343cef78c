#include "train/workload.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/synthetic_config.h"

namespace paceline {
namespace {

TEST(Workloads, StepsCoverTheEpochs) {
  RunConfig config = synthetic();
  config.batch = 300;
  config.epochs = 7;
  const Workload workload = make_workload(config);
  EXPECT_EQ(workload.grid.steps_per_epoch(), 4U);
  EXPECT_EQ(workload.last_version, 28U);
  EXPECT_LE(workload.grid.tiles(0), 64U);
}

TEST(Workloads, ABatchLargerThanTheDataIsTheData) {
  RunConfig config = synthetic();
  config.batch = 5000;
  EXPECT_EQ(make_workload(config).grid.steps_per_epoch(), 1U);
}

TEST(Workloads, SumIsMeanTimesAConstantOfTheStart) {
  RunConfig config = synthetic();
  config.workers = 3;
  EXPECT_EQ(make_workload(config).rules.sum_factor, 1);
  config.reduction = Reduction::kSum;
  EXPECT_EQ(make_workload(config).rules.sum_factor, 3);
  config.sum_factor = 2.5;
  EXPECT_EQ(make_workload(config).rules.sum_factor, 2.5);
}

TEST(Workloads, TheSeedDecidesTheOrder) {
  RunConfig config = synthetic();
  config.seed = 1;
  const Workload first = make_workload(config);
  const Workload again = make_workload(config);
  config.seed = 2;
  const Workload other = make_workload(config);
  std::size_t same = 0;
  for (std::uint64_t position = 0; position < 1000; ++position) {
    EXPECT_EQ(first.order.example(0, position), again.order.example(0, position));
    same += first.order.example(0, position) == other.order.example(0, position) ? 1 : 0;
  }
  EXPECT_LT(same, 50U);
}

TEST(Workloads, AnUnknownModelIsNamed) {
  RunConfig config = synthetic();
  config.model.name = "perceptron";
  EXPECT_THROW(make_workload(config), ConfigError);
}

}  // namespace
}  // namespace paceline

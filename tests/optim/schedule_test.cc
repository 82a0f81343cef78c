#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace paceline {
namespace {

constexpr std::uint64_t kBatch = 100;
constexpr std::uint64_t kExamples = 1000;
constexpr double kEpochs = 10;

Schedule make(const ScheduleOptions& options) {
  return {options, kBatch, kExamples, kEpochs};
}

TEST(Schedule, ConstantNeverChanges) {
  const Schedule schedule = make({.rate = 0.5});
  EXPECT_EQ(schedule.rate(0), 0.5);
  EXPECT_EQ(schedule.rate(1e9), 0.5);
}

TEST(Schedule, ScalesTheRateWithTheBatchWhenGivenAReference) {
  EXPECT_DOUBLE_EQ(make({.rate = 0.5, .reference_batch = 25}).rate(0), 2.0);
  EXPECT_DOUBLE_EQ(make({.rate = 0.5, .reference_batch = 200}).rate(0), 0.25);
}

TEST(Schedule, WarmsUpInAStraightLineFromZero) {
  const Schedule schedule = make({.rate = 0.8, .warmup_epochs = 2});
  EXPECT_EQ(schedule.rate(0), 0);
  EXPECT_DOUBLE_EQ(schedule.rate(500), 0.2);
  EXPECT_DOUBLE_EQ(schedule.rate(1500), 0.6);
  EXPECT_DOUBLE_EQ(schedule.rate(2000), 0.8);
}

TEST(Schedule, StepMultipliesEverySoManyEpochs) {
  const Schedule schedule =
      make({.kind = ScheduleKind::kStep, .rate = 1, .step_epochs = 3, .step_factor = 0.5});
  EXPECT_EQ(schedule.rate(2999), 1);
  EXPECT_EQ(schedule.rate(3000), 0.5);
  EXPECT_EQ(schedule.rate(9000), 0.125);
}

TEST(Schedule, CosineFallsFromTheRateToTheFinalRateAndStaysThere) {
  const Schedule schedule = make({.kind = ScheduleKind::kCosine, .rate = 1, .final_rate = 0.2});
  EXPECT_EQ(schedule.rate(0), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(5000), 0.6);
  EXPECT_NEAR(schedule.rate(2500), 0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(schedule.rate(10000), 0.2, 1e-12);
  EXPECT_NEAR(schedule.rate(20000), 0.2, 1e-12);
}

TEST(Schedule, CosineStartsWhereTheWarmUpEnds) {
  const Schedule schedule =
      make({.kind = ScheduleKind::kCosine, .rate = 1, .warmup_epochs = 2, .final_rate = 0});
  EXPECT_DOUBLE_EQ(schedule.rate(1000), 0.5);
  EXPECT_EQ(schedule.rate(2000), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(6000), 0.5);
}

TEST(Schedule, RefusesValuesThatMakeNoSense) {
  EXPECT_THROW(make({.rate = -1}), ConfigError);
  EXPECT_THROW(make({.rate = NAN}), ConfigError);
  EXPECT_THROW(make({.warmup_epochs = -1}), ConfigError);
  EXPECT_THROW(make({.step_epochs = 0}), ConfigError);
  EXPECT_THROW(make({.final_rate = INFINITY}), ConfigError);
  EXPECT_THROW(Schedule({}, kBatch, 0, kEpochs), ConfigError);
}

}  // namespace
}  // namespace paceline

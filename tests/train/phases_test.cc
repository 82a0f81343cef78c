#include "train/phases.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace paceline {
namespace {

using namespace std::chrono_literals;

TEST(PhaseTimes, AddUpPerPhase) {
  PhaseTimes times;
  times.add(Phase::kData, 1s);
  times.add(Phase::kData, 500ms);
  times.add(Phase::kWaiting, 2s);
  EXPECT_DOUBLE_EQ(times.seconds(Phase::kData), 1.5);
  EXPECT_DOUBLE_EQ(times.seconds(Phase::kForward), 0);
  const nlohmann::json object = times_of(times);
  EXPECT_DOUBLE_EQ(object["waiting_seconds"], 2);
  EXPECT_DOUBLE_EQ(object["step_seconds"], 0);
}

TEST(PhaseTimes, KnowTheMedianOfTheLastSteps) {
  PhaseTimes times;
  for (int i = 0; i < 100; ++i) times.step(1h);
  for (const auto step : {1s, 2s, 9s}) {
    for (int i = 0; i < 22; ++i) times.step(step);
  }
  EXPECT_DOUBLE_EQ(times.median_step(), 2);
}

TEST(PhaseClock, GivesEveryMomentToOnePhase) {
  PhaseTimes times;
  const TimePoint begin = Clock::now();
  Activity activity("training");
  PhaseClock clock(times, activity);
  EXPECT_EQ(clock.enter(Phase::kData), Phase::kWaiting);
  const TimePoint entered = Clock::now();
  while (Clock::now() < entered + 2ms) {
  }
  EXPECT_EQ(clock.enter(Phase::kForward), Phase::kData);
  clock.enter(Phase::kWaiting);
  clock.step_done();
  const double all = seconds(Clock::now() - begin);
  double sum = 0;
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    sum += times.seconds(static_cast<Phase>(phase));
  }
  EXPECT_GE(times.seconds(Phase::kData), 0.002);
  EXPECT_LE(sum, all);
  EXPECT_NEAR(times.median_step(), sum, 1e-6);
}

}  // namespace
}  // namespace paceline

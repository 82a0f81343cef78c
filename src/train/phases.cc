#include "train/phases.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace paceline {
namespace {

std::int64_t nanoseconds(Duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

void begin(Activity& activity, Phase phase) {
  using Kind = Activity::Kind;
  switch (phase) {
    case Phase::kData:
      return activity.begin(Kind::kBusy, "reading the data of step");
    case Phase::kForward:
    case Phase::kBackward:
      return activity.begin(Kind::kBusy, "computing the gradient of step");
    case Phase::kExchange:
    case Phase::kWaiting:
      return activity.begin(Kind::kWaiting, "exchanging gradients and parameters of step");
  }
}

}  // namespace

// There is one writer: no other can come in between.
void PhaseTimes::add(Phase phase, Duration time) {
  auto& sum = nanoseconds_[static_cast<std::size_t>(phase)];
  sum.store(sum.load(std::memory_order_relaxed) + nanoseconds(time), std::memory_order_relaxed);
}

void PhaseTimes::step(Duration time) {
  const std::uint64_t count = count_.load(std::memory_order_relaxed);
  steps_[count % kSteps].store(nanoseconds(time), std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
}

double PhaseTimes::seconds(Phase phase) const {
  return 1e-9 * static_cast<double>(
                    nanoseconds_[static_cast<std::size_t>(phase)].load(std::memory_order_relaxed));
}

double PhaseTimes::median_step() const {
  const std::uint64_t count =
      std::min<std::uint64_t>(kSteps, count_.load(std::memory_order_acquire));
  if (count == 0) return 0;
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < count; ++i)
    steps.push_back(steps_[i].load(std::memory_order_relaxed));
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return 1e-9 * static_cast<double>(*middle);
}

nlohmann::json times_of(const PhaseTimes& times) {
  nlohmann::json object = {{"step_seconds", times.median_step()}};
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    object[std::string(kPhaseNames[phase]) + "_seconds"] = times.seconds(static_cast<Phase>(phase));
  }
  return object;
}

PhaseClock::PhaseClock(PhaseTimes& times, Activity& activity)
    : times_(times), activity_(activity), since_(Clock::now()), step_began_(since_) {
  activity_.adopt();
  enter(Phase::kWaiting);
}

PhaseClock::~PhaseClock() {
  activity_.begin(Activity::Kind::kIdle, "");
}

Phase PhaseClock::enter(Phase phase) {
  const TimePoint now = Clock::now();
  times_.add(phase_, now - since_);
  since_ = now;
  begin(activity_, phase);
  return std::exchange(phase_, phase);
}

void PhaseClock::step_done() {
  times_.step(since_ - step_began_);
  step_began_ = since_;
}

}  // namespace paceline

// Where a worker's time goes: every moment of its loop belongs to one phase.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "base/activity.h"
#include "base/clock.h"

namespace paceline {

enum class Phase {
  kData,      // until the examples of a share are there
  kForward,   // the whole gradient, for models that do not tell
  kBackward,  //
  kExchange,  // handing gradients over
  kWaiting,   // for the next share, and for parameters
};
inline constexpr std::array kPhaseNames = {"data", "forward", "backward", "exchange", "waiting"};

// Written by the worker's thread; read by any.
class PhaseTimes {
 public:
  void add(Phase phase, Duration time);
  void step(Duration time);  // a share is done

  double seconds(Phase phase) const;
  double median_step() const;  // of the last steps, in seconds; 0: none

 private:
  static constexpr std::size_t kSteps = 64;
  std::array<std::atomic<std::int64_t>, kPhaseNames.size()> nanoseconds_{};
  std::array<std::atomic<std::int64_t>, kSteps> steps_{};
  std::atomic<std::uint64_t> count_ = 0;
};

nlohmann::json times_of(const PhaseTimes& times);  // "data_seconds", …, "step_seconds"

class PhaseClock {
 public:
  // `activity` says which phase the thread is in; it belongs to the thread that calls this.
  PhaseClock(PhaseTimes& times, Activity& activity);
  ~PhaseClock();
  PhaseClock(const PhaseClock&) = delete;
  PhaseClock& operator=(const PhaseClock&) = delete;
  Phase enter(Phase phase);  // returns the phase it was in
  void step_done();

 private:
  PhaseTimes& times_;
  Activity& activity_;
  Phase phase_ = Phase::kWaiting;
  TimePoint since_;
  TimePoint step_began_;
};

}  // namespace paceline

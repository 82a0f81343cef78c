// Monotonic time. State machines never read it: they are told the time.
#pragma once

#include <chrono>

namespace paceline {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = Clock::duration;

inline double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

inline Duration from_seconds(double value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

}  // namespace paceline

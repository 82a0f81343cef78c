// The ceiling of a run: what a worker computes when it waits for nothing.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "config/run_config.h"

namespace paceline {

struct Ideal {
  std::uint64_t examples_per_step = 0;  // of one worker
  std::uint64_t steps = 0;
  double step_seconds = 0;  // the median
  double examples_per_second = 0;
};

// The gradient of one worker's share of a step, again and again, in this thread: the examples
// are in memory and nothing is exchanged. Lasts at least `least` and three steps; Ctrl-C ends
// the process as usual.
Ideal measure_ideal(const RunConfig& config, Duration least = std::chrono::seconds(10));

}  // namespace paceline

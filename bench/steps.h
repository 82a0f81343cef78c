// What the measured programs have in common: the clock around each step, and the output.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace bench {

// Times consecutive steps. The median step is what a step costs on a core of one's own,
// even when the machine is shared: few steps are interrupted.
class Steps {
 public:
  Steps() : start_(Clock::now()), last_(start_) {}

  void step(double mean_loss) {
    if (times_.size() % 100 == 0) losses_.push_back(mean_loss);
    const Clock::time_point now = Clock::now();
    times_.push_back(std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

  void print() {
    const auto middle = times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2);
    std::nth_element(times_.begin(), middle, times_.end());
    std::printf("{\"seconds\": %.6f, \"median_step_seconds\": %.9f, \"losses\": [",
                std::chrono::duration<double>(last_ - start_).count(), *middle);
    for (std::size_t i = 0; i < losses_.size(); ++i) {
      std::printf("%s%.9g", i == 0 ? "" : ", ", losses_[i]);
    }
    std::printf("]}\n");
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_;
  Clock::time_point last_;
  std::vector<double> times_;
  std::vector<double> losses_;
};

}  // namespace bench

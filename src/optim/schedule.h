// The learning rate as a function of progress.
//
// Progress is counted in examples (or whatever the weight counts) that are committed, so
// that the schedule is the same for any number of workers, in sync and in async mode.
#pragma once

#include <cstdint>

namespace paceline {

enum class ScheduleKind { kConstant, kStep, kCosine };

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kConstant;
  double rate = 0.01;
  std::uint64_t reference_batch = 0;  // linear scaling: rate · batch / reference; 0: none
  double warmup_epochs = 0;           // linear from 0 to the rate
  double step_epochs = 30;            // kStep: multiply by step_factor every so many epochs
  double step_factor = 0.1;
  double final_rate = 0;  // kCosine: reached at the end of the run
};

class Schedule {
 public:
  Schedule(const ScheduleOptions& options, std::uint64_t batch, std::uint64_t examples_per_epoch,
           double epochs);

  // The rate of the application that follows `examples_done` committed examples.
  double rate(double examples_done) const;

 private:
  ScheduleOptions options_;
  double base_rate_;
  double examples_per_epoch_;
  double epochs_;
};

}  // namespace paceline

#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace paceline {
namespace {

void check_not_negative(const char* name, double value) {
  if (!std::isfinite(value) || value < 0) {
    throw ConfigError("schedule: {} is {}; it must be a number of at least 0", name, value);
  }
}

void check_positive(const char* name, double value) {
  if (!std::isfinite(value) || value <= 0) {
    throw ConfigError("schedule: {} is {}; it must be a number above 0", name, value);
  }
}

}  // namespace

Schedule::Schedule(const ScheduleOptions& options, std::uint64_t batch,
                   std::uint64_t examples_per_epoch, double epochs)
    : options_(options),
      base_rate_(options.rate),
      examples_per_epoch_(static_cast<double>(examples_per_epoch)),
      epochs_(epochs) {
  check_not_negative("rate", options.rate);
  check_not_negative("warmup_epochs", options.warmup_epochs);
  check_not_negative("final_rate", options.final_rate);
  check_not_negative("step_factor", options.step_factor);
  check_positive("step_epochs", options.step_epochs);
  check_positive("the number of examples", examples_per_epoch_);
  if (options.reference_batch > 0) {
    base_rate_ *= static_cast<double>(batch) / static_cast<double>(options.reference_batch);
  }
}

double Schedule::rate(double examples_done) const {
  const double epoch = examples_done / examples_per_epoch_;
  const double warmup = options_.warmup_epochs;
  if (epoch < warmup) return base_rate_ * epoch / warmup;
  switch (options_.kind) {
    case ScheduleKind::kConstant:
      return base_rate_;
    case ScheduleKind::kStep:
      return base_rate_ * std::pow(options_.step_factor, std::floor(epoch / options_.step_epochs));
    case ScheduleKind::kCosine: {
      const double length = epochs_ - warmup;  // from the end of the warm-up on
      const double done = length > 0 ? std::clamp((epoch - warmup) / length, 0.0, 1.0) : 1.0;
      const double share = (1 + std::cos(std::numbers::pi * done)) / 2;
      return options_.final_rate + (base_rate_ - options_.final_rate) * share;
    }
  }
  throw ConfigError("schedule: unknown kind");
}

}  // namespace paceline

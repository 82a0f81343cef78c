// Parameters + gradient sum → parameters, on flat spans.
//
// An optimizer is elementwise: any range of the flat vector can be updated on its own, by
// any server, given the step-wide scalars. It updates out of place, so that the version
// before the step stays readable; `before` and `after` may be the same span. State (the
// momentum, the accumulators) is `slots()` vectors as long as the range, laid one behind
// the other, and is updated from `state_before` to `state_after` likewise.
//
//   sgd       p ← p − r·g
//   momentum  m ← µ·m + g;  p ← p − r·m
//   adagrad   a ← a + g²;   p ← p − r·g / (√a + ε)
//   adam      m, v ← moving averages of g, g²; bias-corrected; p ← p − r·m̂ / (√v̂ + ε)
//
//   ftrl      z ← z + g − (√(n + g²) − √n)/r · p;  n ← n + g²;
//             p = 0 where |z| ≤ l1, else (sign(z)·l1 − z) / ((β + √n)/r + decay)
//
// with g = scale · gradient_sum + decay · p, but in ftrl without the decay, which is in p. In sgd
// and adagrad, l1 then moves p towards 0 by l1 times the rate of this very step (r, or
// r / (√a + ε)), and no further.
//
// Where a group is lazy, an element whose gradient sum is zero stays as it is, with its state:
// the rows of a table that a step did not touch neither decay nor go on moving, so they need
// not travel. This holds element by element, wherever the vector is cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/range.h"

namespace paceline {

enum class OptimizerKind { kSgd, kMomentum, kAdagrad, kAdam, kFtrl };
inline constexpr std::array kOptimizerNames = {"sgd", "momentum", "adagrad", "adam", "ftrl"};
inline const char* name_of(OptimizerKind kind) {
  return kOptimizerNames.at(static_cast<std::size_t>(kind));
}

// Parameters that are treated alike: where a tensor's name starts with `prefix` (the
// longest prefix wins), the rate and the decay are multiplied.
struct ParameterGroup {
  std::string prefix;
  double rate_factor = 1;
  double decay_factor = 1;
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kSgd;
  double momentum = 0.9;  // µ
  double beta1 = 0.9;     // Adam
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0;  // L2, coupled: added to the gradient
  double l1 = 0;     // sgd, adagrad, ftrl
  double beta = 1;   // ftrl
};

// A part of the flat vector with the factors that hold there (see groups.h).
struct GroupRange {
  Range floats;
  double rate_factor = 1;
  double decay_factor = 1;
  bool lazy = false;  // of tables

  bool operator==(const GroupRange&) const = default;
};

// The same for every element of a step.
struct StepScalars {
  double rate = 0;         // from the schedule
  double scale = 1;        // gradient sum → gradient: 1/weight, times clipping, times `sum`
  std::uint64_t time = 1;  // 1 for the first application; Adam's bias correction
};

class Optimizer {
 public:
  explicit Optimizer(const OptimizerOptions& options) : options_(options) {}

  std::size_t slots() const;  // state vectors per parameter vector

  // All spans of one length n, but the states: slots()·n.
  void apply(const StepScalars& scalars, double rate_factor, double decay_factor,
             std::span<const float> gradient_sum, std::span<const float> before,
             std::span<float> after, std::span<const float> state_before,
             std::span<float> state_after) const;
  // The same, group by group; what no group covers stays as `after` has it.
  void apply(const StepScalars& scalars, std::span<const GroupRange> groups,
             std::span<const float> gradient_sum, std::span<const float> before,
             std::span<float> after, std::span<const float> state_before,
             std::span<float> state_after) const;

 private:
  OptimizerOptions options_;
};

}  // namespace paceline

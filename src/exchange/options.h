// How workers and servers agree on a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "optim/sum.h"

namespace paceline {

enum class Mode {
  kSync,   // a step is applied when the contributions cover it
  kAsync,  // every push is applied when it arrives
  kSsp,    // as async, but no reader is more than `staleness` clocks ahead
};

// Whether a worker may ask for the rows of its next share before it has pushed this one. In ssp
// mode that uses up one step of the staleness, so that servers allow readers of rows one less.
inline bool rows_are_read_ahead(Mode mode, std::uint64_t staleness) {
  return mode != Mode::kSsp || staleness > 0;
}
inline std::uint64_t staleness_of_rows(Mode mode, std::uint64_t staleness) {
  return mode == Mode::kSsp && staleness > 0 ? staleness - 1 : staleness;
}

// Versions at the end of epochs that servers keep until they are tested and saved; further
// progress waits.
inline constexpr std::size_t kMostPins = 4;

// What gradients and parameters are on their way between processes.
enum class WireFormat { kFloat, kBf16 };

enum class Reduction { kMean, kSum };
enum class Nonfinite {
  kStop,    // a gradient that is not finite ends the run at the checkpoint before
  kSkip,    // the step is counted but changes nothing
  kIgnore,  // nobody looks
};

// What the gradient sum of a step goes through before the optimizer sees it.
struct StepRules {
  double clip = 0;  // largest norm of the gradient; 0: none
  Nonfinite nonfinite = Nonfinite::kStop;
  double sum_factor = 1;  // `sum` is `mean` times this constant (rule 4)

  // What scale() must know of a gradient sum; that of parts adds up.
  Norm measure(std::span<const float> sum) const {
    return clip > 0 ? norm(sum) : Norm{0, all_finite(sum)};
  }

  // The factor for a step's gradient sum of this norm and weight: clipping, 0 when the step
  // is to be counted but not applied; nothing when the run must stop.
  std::optional<double> scale(const Norm& sum, double weight) const {
    if (weight <= 0) return 0.0;  // none of its examples could be read
    if (!sum.finite && nonfinite == Nonfinite::kStop) return std::nullopt;
    if (!sum.finite) return nonfinite == Nonfinite::kSkip ? 0.0 : 1.0;
    return clip_scale(sum.value() / weight * sum_factor, clip);
  }

  // Whether a gradient is looked at before it is applied.
  bool look() const { return clip > 0 || nonfinite != Nonfinite::kIgnore; }

  // Whether every server's part must be seen before any part may be applied (rule 8): to scale
  // the step, or to leave it out. To stop, it need not be: the version before is still there.
  bool need_whole_step() const { return clip > 0 || nonfinite == Nonfinite::kSkip; }
};

}  // namespace paceline

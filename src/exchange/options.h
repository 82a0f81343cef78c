// How workers and servers agree on a step.
#pragma once

#include <cstdint>

namespace paceline {

enum class Mode {
  kSync,   // a step is applied when the contributions cover it
  kAsync,  // every push is applied when it arrives
  kSsp,    // as async, but no reader is more than `staleness` clocks ahead
};
enum class Reduction { kMean, kSum };
enum class Nonfinite {
  kStop,    // a gradient that is not finite ends the run; the version before it stays
  kSkip,    // the step is counted but changes nothing
  kIgnore,  // nobody looks
};

// What the gradient sum of a step goes through before the optimizer sees it.
struct StepRules {
  double clip = 0;  // largest norm of the gradient; 0: none
  Nonfinite nonfinite = Nonfinite::kStop;
  double sum_factor = 1;  // `sum` is `mean` times this constant (rule 4)

  // Whether every server's part must be seen before any part may be applied (rule 8).
  bool need_whole_step() const { return clip > 0 || nonfinite != Nonfinite::kIgnore; }
};

}  // namespace paceline

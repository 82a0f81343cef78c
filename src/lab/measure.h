// Measures a figure: pairs of runs, ours and the peer's in turn, so that a machine that
// slows down meanwhile slows both.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "lab/figure.h"
#include "lab/statistics.h"

namespace paceline {

struct Result {
  Spread value;  // of the pairs' values
  Spread ours;
  Spread peer;
  std::string reason;  // why it could not be measured; the rest then means nothing

  bool measured() const { return reason.empty(); }
};

// As many pairs as the figure says, but at most `most`. `progress` receives one line per
// pair. A side that fails, or reports what is not a
// positive number, leaves the figure unmeasured; only Interrupted is thrown.
Result measure(const Figure& figure, const std::function<void(std::string_view)>& progress,
               int most = 1000);

// A figure that could not be measured is short of its target, unless this machine is not made
// for it.
bool is_ok(const Figure& figure, const Result& result);

}  // namespace paceline

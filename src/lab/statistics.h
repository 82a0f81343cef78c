// What a handful of measurements say together.
#pragma once

#include <vector>

namespace paceline {

// The quartiles: half of the measurements lie between `low` and `high`, one quarter on
// either side.
struct Spread {
  double low = 0;
  double median = 0;
  double high = 0;

  bool operator==(const Spread&) const = default;
};

// `values` are in any order, and at least one. Quartiles between two values are
// interpolated linearly.
Spread spread_of(std::vector<double> values);

}  // namespace paceline

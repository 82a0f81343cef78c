#include "lab/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"

namespace paceline {
namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const double below = std::floor(position);
  const auto index = static_cast<std::size_t>(below);
  if (index + 1 == sorted.size()) return sorted[index];
  return std::lerp(sorted[index], sorted[index + 1], position - below);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  PACELINE_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

}  // namespace paceline

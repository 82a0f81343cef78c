#include "exchange/plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace paceline {

// Cuts at the rounded cumulative weights: every tile goes to exactly one worker, and equal
// weights differ by at most one tile.
Range Plan::tiles_for(std::uint32_t worker, std::uint64_t tiles) const {
  double total = 0;
  for (const PlanEntry& entry : entries) total += entry.weight;
  if (!(total > 0)) return {};
  const auto cut = [&](double cumulative) {
    return std::min<std::uint64_t>(
        tiles, static_cast<std::uint64_t>(
                   std::floor(cumulative / total * static_cast<double>(tiles) + 0.5)));
  };
  double before = 0;
  for (const PlanEntry& entry : entries) {
    if (entry.worker == worker) return {cut(before), cut(before + entry.weight)};
    before += entry.weight;
  }
  return {};
}

void PlanBook::add(Plan plan) {
  PACELINE_CHECK(accepts(plan));
  // A plan that never came into force is replaced.
  while (!plans_.empty() && plans_.back().start >= plan.start) plans_.pop_back();
  plans_.push_back(std::move(plan));
}

const Plan* PlanBook::in_force(std::uint64_t step) const {
  const Plan* found = nullptr;
  for (const Plan& plan : plans_) {
    if (plan.start <= step) found = &plan;
  }
  return found;
}

void PlanBook::forget_before(std::uint64_t step) {
  while (plans_.size() > 1 && plans_[1].start <= step) plans_.erase(plans_.begin());
}

}  // namespace paceline

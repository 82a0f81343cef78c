// A plan deals the tiles of every step from `start` on to workers, as shares.
//
// Each worker derives its own share from the plan, so that the chief speaks only when the
// plan changes. Shares are consecutive tiles, in the order of the plan's entries, sized in
// proportion to their weights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/share.h"

namespace paceline {

struct PlanEntry {
  std::uint32_t worker = 0;  // its incarnation
  double weight = 1;

  bool operator==(const PlanEntry&) const = default;
};

struct Plan {
  std::uint32_t epoch = 0;  // later plans have higher epochs
  std::uint64_t start = 0;  // first step it holds for
  std::vector<PlanEntry> entries;

  bool operator==(const Plan&) const = default;

  // The tiles of `step` (of `tiles` in all) that are dealt to `worker`; empty when there
  // are none for it.
  Range tiles_for(std::uint32_t worker, std::uint64_t tiles) const;
};

// The plans of a run by their start. The plan in force for a step is the one with the
// highest epoch among those that start at or before it.
class PlanBook {
 public:
  // Later plans have higher epochs.
  bool accepts(const Plan& plan) const {
    return plans_.empty() || plan.epoch > plans_.back().epoch;
  }
  void add(Plan plan);
  const Plan* in_force(std::uint64_t step) const;  // null: no plan reaches back that far
  void forget_before(std::uint64_t step);          // plans that only held for earlier steps
  std::size_t size() const { return plans_.size(); }

 private:
  std::vector<Plan> plans_;  // by epoch; starts never decrease
};

}  // namespace paceline

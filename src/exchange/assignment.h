// An assignment deals the tiles of every step from `start` on to workers, as shares.
//
// Each worker derives its own share from the assignment, so that the chief speaks only when the
// assignment changes. Shares are consecutive tiles, in the order of the assignment's entries, sized
// in proportion to their weights. All of it is integers: two builds, by whatever compilers, never
// cut a step at different tiles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/share.h"

namespace paceline {

struct AssignmentEntry {
  // So that sums over all workers, times the tiles of a step, have less than 64 bits.
  static constexpr std::uint32_t kMostWeight = 1U << 20;

  std::uint32_t worker = 0;  // its incarnation
  std::uint32_t weight = 1;  // at most kMostWeight

  bool operator==(const AssignmentEntry&) const = default;
};

struct Assignment {
  std::uint32_t epoch = 0;  // later assignments have higher epochs
  std::uint64_t start = 0;  // first step it holds for
  std::vector<AssignmentEntry> entries;

  bool operator==(const Assignment&) const = default;

  // The tiles of `step` (of `tiles` in all) that are dealt to `worker`; empty when there
  // are none for it.
  Range tiles_for(std::uint32_t worker, std::uint64_t tiles) const;
};

// The assignments of a run by their start. The assignment in force for a step is the one with the
// highest epoch among those that start at or before it.
class AssignmentBook {
 public:
  // Later assignments have higher epochs.
  bool accepts(const Assignment& assignment) const {
    return assignments_.empty() || assignment.epoch > assignments_.back().epoch;
  }
  void add(Assignment assignment);
  const Assignment* in_force(
      std::uint64_t step) const;           // null: no assignment reaches back that far
  void forget_before(std::uint64_t step);  // assignments that only held for earlier steps
  std::size_t size() const { return assignments_.size(); }

 private:
  std::vector<Assignment> assignments_;  // by epoch; starts never decrease
};

}  // namespace paceline

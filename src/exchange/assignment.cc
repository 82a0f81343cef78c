#include "exchange/assignment.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

// Cuts at the cumulative weights, rounded to the nearest tile: every tile goes to exactly one
// worker, and equal weights differ by at most one tile.
Range Assignment::tiles_for(std::uint32_t worker, std::uint64_t tiles) const {
  std::uint64_t total = 0;
  for (const AssignmentEntry& entry : entries) total += entry.weight;
  if (total == 0) return {};
  const auto cut = [&](std::uint64_t cumulative) {
    return (2 * cumulative * tiles + total) / (2 * total);
  };
  std::uint64_t before = 0;
  for (const AssignmentEntry& entry : entries) {
    if (entry.worker == worker) return {cut(before), cut(before + entry.weight)};
    before += entry.weight;
  }
  return {};
}

void AssignmentBook::add(Assignment assignment) {
  PACELINE_CHECK(accepts(assignment));
  // An assignment that never came into force is replaced.
  while (!assignments_.empty() && assignments_.back().start >= assignment.start)
    assignments_.pop_back();
  assignments_.push_back(std::move(assignment));
}

const Assignment* AssignmentBook::in_force(std::uint64_t step) const {
  const Assignment* found = nullptr;
  for (const Assignment& assignment : assignments_) {
    if (assignment.start <= step) found = &assignment;
  }
  return found;
}

void AssignmentBook::forget_before(std::uint64_t step) {
  while (assignments_.size() > 1 && assignments_[1].start <= step)
    assignments_.erase(assignments_.begin());
}

}  // namespace paceline

// Synchronous mode: who owes which share of a step. The assignment in force says it, until the
// share of a lost worker changes hands.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "data/share.h"
#include "exchange/assignment.h"

namespace paceline {

class ShareOwners {
 public:
  struct Adopted {
    Share share;
    std::uint32_t assignment;  // epoch of the assignment that cut it
  };

  explicit ShareOwners(const Grid& grid) : grid_(grid) {}

  void add(Assignment assignment);
  std::uint64_t last_start() const { return last_start_; }         // of the newest assignment
  std::size_t assignments() const { return assignments_.size(); }  // that are remembered

  // Deals the shares of `dead` in `steps`, whole, to the heirs in turn; returns what each
  // inherits. Steps before these are complete and forgotten, with the assignments that held for
  // them only.
  std::map<std::uint32_t, std::vector<Adopted>> reassign(Range steps,
                                                         const std::set<std::uint32_t>& dead,
                                                         const std::vector<std::uint32_t>& heirs);

  // The workers that owe any of these tiles.
  std::vector<std::uint32_t> owing(std::uint64_t step, const std::vector<Range>& tiles) const;

 private:
  struct Inheritance {
    Share share;
    std::uint32_t owner;
  };

  Grid grid_;
  AssignmentBook assignments_;
  std::uint64_t last_start_ = 0;
  std::vector<Inheritance> inherited_;
};

}  // namespace paceline

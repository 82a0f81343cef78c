// Which tiles of a step have been seen (rule 1: disjoint is new, a subset is a duplicate,
// anything else is refused with what is missing).
#pragma once

#include <cstdint>
#include <vector>

#include "base/range.h"

namespace paceline {

enum class Overlap { kNew, kDuplicate, kPartial };

class Coverage {
 public:
  explicit Coverage(std::uint64_t tiles = 0) : seen_(tiles, false), missing_(tiles) {}

  Overlap classify(Range tiles) const;  // tiles within the step; an empty range is kNew
  void add(Range tiles);                // must be kNew
  bool complete() const { return missing_ == 0; }
  bool touched() const { return missing_ != seen_.size(); }
  std::uint64_t tiles() const { return seen_.size(); }
  std::uint64_t lacks() const { return missing_; }  // tiles
  std::vector<Range> missing() const;

 private:
  std::vector<bool> seen_;
  std::uint64_t missing_;
};

// A set of whole numbers that fills up nearly in order: what was applied, as few ranges.
class RangeSet {
 public:
  bool contains(std::uint64_t value) const;
  bool add(std::uint64_t value);  // false: was there already
  void add_below(std::uint64_t end);
  std::uint64_t first_missing() const;
  std::uint64_t size() const;
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;  // disjoint, not touching, ascending
};

}  // namespace paceline

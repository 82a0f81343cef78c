// Older versions of a table that is changed in place: what it is now, with steps undone.
//
// Of each step the rows that it touched are kept as they were, as long as somebody may ask for a
// version before it. Steps between which nobody asks are kept as one, so that the lists are few
// and a row is kept a few times at most. The table itself is not here.
//
// One thread changes it; meanwhile nobody reads. Otherwise several may read at once.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <span>
#include <vector>

#include "optim/rows/row_sums.h"
#include "optim/rows/row_table.h"

namespace paceline {

class RowHistory {
 public:
  struct Step {                 // that was applied, or several
    std::uint64_t version = 0;  // they led from
    std::vector<std::uint32_t> rows;
    std::vector<TableRow> before;
  };

  // With `keeps_last` the version before the newest is kept, whether it is pinned or not.
  RowHistory(std::uint64_t version, bool keeps_last) : version_(version), keeps_last_(keeps_last) {}

  std::uint64_t version() const { return version_; }

  Step begin();                                // an empty one, from the newest version
  void end(Step step, std::uint64_t version);  // that it led to, which is the newest from now on

  void pin(std::uint64_t version) { pinned_.insert(version); }
  void release(std::uint64_t version);

  // `values` are those of `rows`, or of the rows from `first` on, as they are now; they become what
  // they were in `version`, which must be kept.
  void undo(std::uint64_t version, RowNumbers rows, std::span<TableRow> values) const;
  void undo(std::uint64_t version, std::uint32_t first, std::span<TableRow> values) const;

  std::uint64_t rows_kept() const;

 private:
  Step spare();
  void forget_unneeded();
  void join_steps();
  template <typename Each>
  void for_steps_since(std::uint64_t version, const Each& each) const;

  std::uint64_t version_;
  bool keeps_last_;
  std::deque<Step> steps_;
  std::vector<Step> spare_steps_;  // for their memory
  std::set<std::uint64_t> pinned_;
};

}  // namespace paceline

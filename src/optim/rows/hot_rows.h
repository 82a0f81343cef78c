// The rows of hot keys, which nearly every example changes: each thread has a copy of its own
// and from time to time brings what it has changed to the others.
//
// With one thread there are no copies.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "optim/rows/row_table.h"

namespace paceline {

class HotRows {
 public:
  // Takes the rows of `keys` out of the table; put_back() returns them.
  HotRows(std::span<const Key> keys, std::span<TableRow> table, bool copies);

  class Copy {
   public:
    explicit Copy(HotRows& all);
    TableRow* rows() { return all_.copies_ ? mine_.data() : all_.rows_.data(); }
    void merge();  // adds what has changed here since the last time, and takes what others added

   private:
    HotRows& all_;
    std::vector<TableRow> mine_;
    std::vector<TableRow> before_;  // as it was after the last merge
  };

  // When no thread has a copy that it has not merged.
  void put_back(std::span<TableRow> table) const;

 private:
  std::vector<Key> keys_;
  bool copies_;
  std::mutex mutex_;
  std::vector<TableRow> rows_;
};

}  // namespace paceline

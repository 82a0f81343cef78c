// The weights of sparse models: a row for each key, in one piece of memory.
//
// A row is 8 bytes, so that a key costs one line of memory whatever the optimizer keeps:
//
//   sgd, adagrad  a: the weight; b: the sum of squared gradients (adagrad)
//   ftrl          a: z; b: n. The weight follows from both (McMahan et al., KDD 2013)
//
// Threads may use a table at once, without locks: rows are read and written whole, so none is
// torn, and an update may be lost to a collision (HOGWILD!, Niu et al., NIPS 2011).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "data/sparse/row.h"

namespace paceline {

struct alignas(8) TableRow {
  float a = 0;
  float b = 0;
};
static_assert(std::atomic_ref<TableRow>::is_always_lock_free);

// Zeros at first.
class RowTable {
 public:
  explicit RowTable(std::uint64_t rows);  // throws ResourceError
  ~RowTable();
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  std::span<TableRow> rows() { return {data_, rows_}; }
  std::span<const TableRow> rows() const { return {data_, rows_}; }

 private:
  std::uint64_t bytes() const { return rows_ * sizeof(TableRow); }
  void populate();

  std::uint64_t rows_;
  TableRow* data_ = nullptr;
};

// Rows as somebody sees them: those of hot keys are apart.
class TableView {
 public:
  TableView(TableRow* rows, TableRow* hot)
      : rows_(reinterpret_cast<std::uintptr_t>(rows)),
        to_hot_(reinterpret_cast<std::uintptr_t>(hot) - rows_) {}

  // Without a branch, which nobody could predict.
  TableRow* row(Key key) const {
    const std::uintptr_t to_place = to_hot_ & (std::uintptr_t{0} - (key >> 31));
    const std::uintptr_t at = sizeof(TableRow) * std::uintptr_t{key & ~kHotBit};
    return reinterpret_cast<TableRow*>(rows_ + to_place + at);  // NOLINT(*-no-int-to-ptr)
  }
  // The same for several keys at once: the first row's place, and how far behind it the hot ones
  // are.
  std::uintptr_t first() const { return rows_; }
  std::uintptr_t to_hot() const { return to_hot_; }

 private:
  std::uintptr_t rows_;
  std::uintptr_t to_hot_;
};

inline TableRow load(TableRow* row) {
  return std::atomic_ref(*row).load(std::memory_order_relaxed);
}
inline void store(TableRow* row, TableRow value) {
  std::atomic_ref(*row).store(value, std::memory_order_relaxed);
}

}  // namespace paceline

// Gradients of some rows of a table → table: what a step that many rows went into does.
//
// Rows are given ascending, each once. Rows that are not given stay as they are: they neither
// decay nor move (rule 7), and the same holds where the gradient sum of a row is zero.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/optimizer.h"
#include "optim/rows/learn_rows.h"
#include "optim/rows/row_table.h"

namespace paceline {

using RowNumbers = std::span<const std::uint32_t>;

// The sum of what was added.
class RowSums {
 public:
  void clear();
  void add(RowNumbers rows, std::span<const float> values);  // of the same length

  RowNumbers rows() const { return rows_; }
  std::span<const float> values() const { return values_; }

 private:
  std::vector<std::uint32_t> rows_;
  std::vector<float> values_;
  std::vector<std::uint32_t> merged_rows_;  // memory for the next sum
  std::vector<float> merged_values_;
};

// All rows that are in one list or the other.
void join(RowNumbers a, RowNumbers b, std::vector<std::uint32_t>& out);

// Calls work(place in a, place in b) where the two have the same row.
template <typename Work>
void for_common(RowNumbers a, RowNumbers b, const Work& work) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) work(i, j);
    const bool next_a = a[i] <= b[j];
    const bool next_b = b[j] <= a[i];
    i += next_a ? 1 : 0;
    j += next_b ? 1 : 0;
  }
}

void read_rows(std::span<const TableRow> table, RowNumbers rows, std::span<TableRow> out);

// Applies the optimizer (sgd, adagrad or ftrl) to these rows.
class RowUpdate {
 public:
  explicit RowUpdate(const OptimizerOptions& options) : options_(options), optimizer_(options) {}

  // Fills `before` with the rows as they were.
  void apply(const StepScalars& scalars, RowNumbers rows, std::span<const float> sums,
             std::span<TableRow> table, std::vector<TableRow>& before);

 private:
  OptimizerOptions options_;
  Optimizer optimizer_;
  std::vector<float> values_;
  std::vector<float> state_;  // slot by slot
};

}  // namespace paceline

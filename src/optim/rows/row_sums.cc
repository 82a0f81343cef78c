#include "optim/rows/row_sums.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

// How many rows ahead memory is asked for.
constexpr std::size_t kAhead = 24;

template <int kWrite, typename Row, typename Work>
void for_rows(std::span<Row> table, RowNumbers rows, const Work& work) {
  const std::size_t count = rows.size();
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) {
    __builtin_prefetch(&table[rows[i]], kWrite);
  }
  std::size_t i = 0;
  for (; i + kAhead < count; ++i) {
    __builtin_prefetch(&table[rows[i + kAhead]], kWrite);
    work(i, table[rows[i]]);
  }
  for (; i < count; ++i) work(i, table[rows[i]]);
}

}  // namespace

void RowSums::clear() {
  rows_.clear();
  values_.clear();
}

// Which of the two lists is next nobody can predict, so nothing here depends on a guess.
void RowSums::add(RowNumbers rows, std::span<const float> values) {
  PACELINE_CHECK(rows.size() == values.size());
  if (rows_.empty()) {
    rows_.assign(rows.begin(), rows.end());
    values_.assign(values.begin(), values.end());
    return;
  }
  const std::size_t first_end = rows_.size();
  const std::size_t second_end = rows.size();
  merged_rows_.resize(first_end + second_end);
  merged_values_.resize(first_end + second_end);
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t out = 0;
  while (first < first_end && second < second_end) {
    const std::uint32_t a = rows_[first];
    const std::uint32_t b = rows[second];
    const bool take_a = a <= b;
    const bool take_b = b <= a;
    merged_rows_[out] = take_a ? a : b;
    merged_values_[out] = (take_a ? values_[first] : 0.0F) + (take_b ? values[second] : 0.0F);
    first += take_a ? 1 : 0;
    second += take_b ? 1 : 0;
    ++out;
  }
  for (; first < first_end; ++first, ++out) {
    merged_rows_[out] = rows_[first];
    merged_values_[out] = values_[first];
  }
  for (; second < second_end; ++second, ++out) {
    merged_rows_[out] = rows[second];
    merged_values_[out] = values[second];
  }
  merged_rows_.resize(out);
  merged_values_.resize(out);
  rows_.swap(merged_rows_);
  values_.swap(merged_values_);
}

void join(RowNumbers a, RowNumbers b, std::vector<std::uint32_t>& out) {
  out.resize(a.size() + b.size());
  const auto end = std::set_union(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  out.erase(end, out.end());
}

void read_rows(std::span<const TableRow> table, RowNumbers rows, std::span<TableRow> out) {
  for_rows<0>(table, rows, [&](std::size_t i, const TableRow& row) { out[i] = row; });
}

void RowUpdate::apply(const StepScalars& scalars, RowNumbers rows, std::span<const float> sums,
                      std::span<TableRow> table, std::vector<TableRow>& before) {
  const std::size_t count = rows.size();
  PACELINE_CHECK(sums.size() == count);
  const bool ftrl = options_.kind == OptimizerKind::kFtrl;
  before.resize(count);
  values_.resize(count);
  state_.resize(optimizer_.slots() * count);
  // What the optimizer knows as its state lies in the rows as row_table.h says.
  float* first = ftrl ? state_.data() : values_.data();
  float* second = ftrl ? state_.data() + count : state_.data();
  const bool has_second = optimizer_.slots() > 0;
  for_rows<1>(table, rows, [&](std::size_t i, const TableRow& row) {
    before[i] = row;
    first[i] = row.a;
    if (has_second) second[i] = row.b;
  });
  if (ftrl) {
    weights_of(row_rule(options_, scalars.rate), before, values_);
  }
  const GroupRange all{{0, count}, 1, 1, true};
  optimizer_.apply(scalars, std::span(&all, 1), sums, values_, values_, state_, state_);
  for (std::size_t i = 0; i < count; ++i) {
    table[rows[i]] = {first[i], has_second ? second[i] : before[i].b};
  }
}

}  // namespace paceline

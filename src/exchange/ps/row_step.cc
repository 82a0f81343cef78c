#include "exchange/ps/row_step.h"

#include <algorithm>

namespace paceline {

void RowStep::clear() {
  sums_.clear();
  collected_.clear();
}

void RowStep::add(Range tiles, Gradient gradient) {
  if (deterministic_) {
    collected_.push_back({tiles, std::move(gradient)});
  } else {
    sums_.add(*gradient.rows, gradient.values->as_floats());
  }
}

const RowSums& RowStep::sums(std::uint64_t tiles) {
  if (collected_.empty()) return sums_;
  rows_.clear();
  for (const Collected& one : collected_) {
    join(rows_, *one.gradient.rows, more_rows_);
    rows_.swap(more_rows_);
  }
  tree_.reset(rows_.size());
  values_.resize(rows_.size());
  for (const Collected& one : collected_) {
    std::span<const float> rest = one.gradient.values->as_floats();
    for (const Range& node : tree_nodes(one.tiles)) {
      std::ranges::fill(values_, 0.0F);
      for_common(rows_, *one.gradient.rows,
                 [&](std::size_t to, std::size_t from) { values_[to] = rest[from]; });
      tree_.add(node, values_);
      rest = rest.subspan(one.gradient.rows->size());
    }
  }
  tree_.root(tiles, values_);
  clear();
  sums_.add(rows_, values_);
  return sums_;
}

}  // namespace paceline

#include "exchange/ps/row_step.h"

#include <algorithm>

#include "exchange/tree_sum.h"

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
  std::vector<std::uint32_t> rows;
  for (const Collected& one : collected_) rows = joined(rows, *one.gradient.rows);
  TreeSum tree(rows.size());
  std::vector<float> values(rows.size());
  for (const Collected& one : collected_) {
    std::span<const float> rest = one.gradient.values->as_floats();
    for (const Range& node : tree_nodes(one.tiles)) {
      std::ranges::fill(values, 0.0F);
      for_common(rows, *one.gradient.rows,
                 [&](std::size_t to, std::size_t from) { values[to] = rest[from]; });
      tree.add(node, values);
      rest = rest.subspan(one.gradient.rows->size());
    }
  }
  tree.root(tiles, values);
  clear();
  sums_.add(rows, values);
  return sums_;
}

}  // namespace paceline

// The gradient sums of a table's open step: contributions in, the rows that they touch and the sum
// of each out.
//
// With --deterministic contributions are set aside, and summed along the fixed tree when all are
// there: a row that a tile does not touch has a gradient of zero there, whoever computed the tile.
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "exchange/ps/holding.h"
#include "exchange/tree_sum.h"
#include "optim/rows/row_sums.h"

namespace paceline {

class RowStep {
 public:
  explicit RowStep(bool deterministic) : deterministic_(deterministic) {}

  bool deterministic() const { return deterministic_; }
  void clear();
  void add(Range tiles, Gradient gradient);
  // Of a step of so many tiles, all of which have been added.
  const RowSums& sums(std::uint64_t tiles);

 private:
  struct Collected {
    Range tiles;
    Gradient gradient;
  };

  bool deterministic_;
  RowSums sums_;
  std::vector<Collected> collected_;
  // Memory for the tree.
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> more_rows_;
  std::vector<float> values_;
  TreeSum tree_{0};
};

}  // namespace paceline

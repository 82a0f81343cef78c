// Sums of tile gradients along the fixed binary tree of --deterministic (see
// data/share.h): whoever adds whichever tiles in whatever order, the root has the same
// bits, because two nodes are added only when they are siblings, left plus right.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/range.h"
#include "exchange/node_tree.h"

namespace paceline {

class TreeSum {
 public:
  explicit TreeSum(std::size_t floats) : floats_(floats) {}

  // Adds a tile ({t, t+1}) or a node that was summed elsewhere. Nodes must not overlap.
  void add(Range node, std::span<const float> values);
  void clear();
  void reset(std::size_t floats);  // as a new one for so many, with the memory of this

  // The largest complete nodes so far, in tile order.
  const NodeTree<std::vector<float>>::Nodes& nodes() const { return tree_.nodes(); }
  // The sum over tiles [0, tiles), all of which must have been added.
  void root(std::uint64_t tiles, std::span<float> out) const;

 private:
  std::size_t floats_;
  NodeTree<std::vector<float>> tree_;
  std::vector<std::vector<float>> free_;
};

}  // namespace paceline

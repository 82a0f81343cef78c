// The fixed binary tree over the tiles of a step, whatever is summed along it: floats in
// production (tree_sum.h), other words in a simulation.
//
// Two nodes are joined only when they are siblings, the left with the right; so what a node
// holds does not depend on who added which tiles in what order. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/range.h"

namespace paceline {

template <typename Sum>
class NodeTree {
 public:
  using Nodes = std::map<std::uint64_t, std::pair<Range, Sum>>;  // by first tile

  // Adds a tile ({t, t+1}) or a node that was summed elsewhere. Nodes must not overlap.
  // `join(left, right, node)` makes `left` the sum over `node`, which is both.
  template <typename Join>
  void add(Range node, Sum sum, Join&& join) {
    while (true) {
      const std::uint64_t size = node.size();
      const bool is_left = node.begin / size % 2 == 0;
      const auto sibling = nodes_.find(is_left ? node.end : node.begin - size);
      if (sibling == nodes_.end() || sibling->second.first.size() != size) break;
      Sum other = std::move(sibling->second.second);
      nodes_.erase(sibling);
      if (!is_left) std::swap(sum, other);
      node = is_left ? Range{node.begin, node.end + size} : Range{node.begin - size, node.end};
      join(sum, other, node);
    }
    nodes_.emplace(node.begin, std::pair(node, std::move(sum)));
  }

  // Where the number of tiles is no power of two, nodes are left over: `visit(node, sum)` gets
  // them from the right, so that the order depends on the number of tiles alone. All tiles
  // must have been added.
  template <typename Visit>
  void from_the_right(std::uint64_t tiles, Visit&& visit) const {
    std::uint64_t begin = tiles;
    for (auto entry = nodes_.rbegin(); entry != nodes_.rend(); ++entry) {
      const auto& [node, sum] = entry->second;
      PACELINE_CHECK(node.end == begin);
      begin = node.begin;
      visit(node, sum);
    }
    PACELINE_CHECK(begin == 0 && !nodes_.empty());
  }

  // The largest complete nodes so far, in tile order.
  const Nodes& nodes() const { return nodes_; }
  Nodes take() { return std::exchange(nodes_, {}); }

 private:
  Nodes nodes_;
};

}  // namespace paceline

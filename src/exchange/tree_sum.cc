#include "exchange/tree_sum.h"

#include <algorithm>

#include "base/error.h"
#include "optim/sum.h"

namespace paceline {

void TreeSum::add(Range node, std::span<const float> values) {
  PACELINE_CHECK(values.size() == floats_ && !node.empty());
  std::vector<float> sum;
  if (!free_.empty()) {
    sum = std::move(free_.back());
    free_.pop_back();
  }
  sum.assign(values.begin(), values.end());
  while (true) {
    const std::uint64_t size = node.size();
    const bool is_left = node.begin / size % 2 == 0;
    const auto sibling = nodes_.find(is_left ? node.end : node.begin - size);
    if (sibling == nodes_.end() || sibling->second.first.size() != size) break;
    std::vector<float> other = std::move(sibling->second.second);
    nodes_.erase(sibling);
    if (!is_left) sum.swap(other);
    paceline::add(sum, other);  // left + right
    free_.push_back(std::move(other));
    node = is_left ? Range{node.begin, node.end + size} : Range{node.begin - size, node.end};
  }
  nodes_.emplace(node.begin, std::pair(node, std::move(sum)));
}

void TreeSum::clear() {
  for (auto& [begin, node] : nodes_) free_.push_back(std::move(node.second));
  nodes_.clear();
}

void TreeSum::reset(std::size_t floats) {
  clear();
  floats_ = floats;
}

// Where the number of tiles is no power of two the nodes left over are added from the
// right: the order depends on the number of tiles alone.
void TreeSum::root(std::uint64_t tiles, std::span<float> out) const {
  PACELINE_CHECK(!nodes_.empty() && nodes_.rbegin()->second.first.end == tiles);
  auto node = nodes_.rbegin();
  std::copy(node->second.second.begin(), node->second.second.end(), out.begin());
  std::uint64_t begin = node->second.first.begin;
  for (++node; node != nodes_.rend(); ++node) {
    PACELINE_CHECK(node->second.first.end == begin);
    begin = node->second.first.begin;
    paceline::add(out, node->second.second);
  }
  PACELINE_CHECK(begin == 0);
}

}  // namespace paceline

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
  tree_.add(node, std::move(sum),
            [this](std::vector<float>& left, std::vector<float>& right, const Range&) {
              paceline::add(left, right);
              free_.push_back(std::move(right));
            });
}

void TreeSum::clear() {
  for (auto& [begin, node] : tree_.take()) free_.push_back(std::move(node.second));
}

void TreeSum::reset(std::size_t floats) {
  clear();
  floats_ = floats;
}

void TreeSum::root(std::uint64_t tiles, std::span<float> out) const {
  tree_.from_the_right(tiles, [&](const Range& node, const std::vector<float>& sum) {
    if (node.end == tiles) {
      std::copy(sum.begin(), sum.end(), out.begin());
    } else {
      paceline::add(out, sum);
    }
  });
}

}  // namespace paceline

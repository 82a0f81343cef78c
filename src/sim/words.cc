#include "sim/words.h"

#include "base/error.h"
#include "base/random.h"

namespace paceline::sim {
namespace {

Word joined(Word left, Word right, Range node) {
  return mix(left + mix(right ^ random_bits(node.begin, {node.end})));
}

void join(Word& left, Word right, Range node) {
  left = joined(left, right, node);
}

Word node_sum(const Words& params, std::uint64_t step, Range node, std::uint32_t chunk) {
  if (node.size() == 1) return gradient(params, step, node.begin, chunk);
  const std::uint64_t middle = node.begin + node.size() / 2;
  return joined(node_sum(params, step, {node.begin, middle}, chunk),
                node_sum(params, step, {middle, node.end}, chunk), node);
}

}  // namespace

Word gradient(const Words& params, std::uint64_t step, std::uint64_t tile, std::uint32_t chunk) {
  Word state = random_bits(step, {tile, chunk});
  for (const Word word : params) state = mix(state ^ word);
  return state;
}

Word applied(Word before, Word sum) {
  return mix(before) + sum;
}

Word step_sum(const Words& params, std::uint64_t step, std::uint64_t tiles, std::uint32_t chunk,
              bool deterministic) {
  Word sum = 0;
  if (!deterministic) {
    for (std::uint64_t tile = 0; tile < tiles; ++tile) sum += gradient(params, step, tile, chunk);
    return sum;
  }
  const std::vector<Range> nodes = tree_nodes({0, tiles});
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const Word word = node_sum(params, step, *node, chunk);
    sum = node->end == tiles ? word : joined(sum, word, {node->begin, tiles});
  }
  return sum;
}

Words contribution(const Words& params, const Share& share, std::uint32_t chunk,
                   bool deterministic) {
  Word sum = 0;
  NodeTree<Word> tree;
  for (std::uint64_t tile = share.tiles.begin; tile < share.tiles.end; ++tile) {
    const Word word = gradient(params, share.step, tile, chunk);
    sum += word;
    if (deterministic) tree.add({tile, tile + 1}, word, join);
  }
  if (!deterministic) return {sum};
  Words words;
  for (const auto& [begin, node] : tree.nodes()) words.push_back(node.second);
  return words;
}

void StepSum::add(bool first, Range tiles, const Words& contribution, bool deterministic) {
  if (first) *this = {};
  deterministic_ = deterministic;
  const std::vector<Range> nodes = deterministic ? tree_nodes(tiles) : std::vector{tiles};
  PACELINE_CHECK(nodes.size() == contribution.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    sum_ += contribution[i];
    if (deterministic) tree_.add(nodes[i], contribution[i], join);
  }
}

void StepSum::add_again(const Words& contribution) {
  for (const Word word : contribution) sum_ += word;
}

Word StepSum::total(std::uint64_t tiles) const {
  if (!deterministic_) return sum_;
  Word total = 0;
  tree_.from_the_right(tiles, [&](const Range& node, Word word) {
    total = node.end == tiles ? word : joined(total, word, {node.begin, tiles});
  });
  return total;
}

}  // namespace paceline::sim

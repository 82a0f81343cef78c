// The numbers of a simulated run: 64-bit words in the place of floats.
//
// What a tile contributes is a hash of all parameters it is computed from. Sums depend on
// order and place where those of floats do. Without --deterministic contributions are added
// as they arrive, so words wrap around: any order gives the same, and a tile that is missing
// or there twice another. With it they are joined along production's tree of tiles, by a
// hash that knows the node and neither commutes nor associates: a tile at a wrong place, or
// another order of additions, gives another word.
#pragma once

#include <cstdint>
#include <vector>

#include "base/range.h"
#include "data/share.h"
#include "exchange/node_tree.h"

namespace paceline::sim {

using Word = std::uint64_t;
using Words = std::vector<Word>;

// What a tile contributes to one chunk, given all parameters.
Word gradient(const Words& params, std::uint64_t step, std::uint64_t tile, std::uint32_t chunk);
// What a chunk becomes when a step's sum is applied to it.
Word applied(Word before, Word sum);
// The sum over a whole step by definition, without the code that is tested.
Word step_sum(const Words& params, std::uint64_t step, std::uint64_t tiles, std::uint32_t chunk,
              bool deterministic);

// What a worker sends for its share of a chunk: one sum, or those of the largest nodes in it.
Words contribution(const Words& params, const Share& share, std::uint32_t chunk,
                   bool deterministic);

// A server's sum of the open step of one chunk.
class StepSum {
 public:
  void add(bool first, Range tiles, const Words& contribution, bool deterministic);
  void add_again(const Words& contribution);  // what it has already, past the tree's checks
  Word total(std::uint64_t tiles) const;

 private:
  bool deterministic_ = false;
  Word sum_ = 0;
  NodeTree<Word> tree_;
};

}  // namespace paceline::sim

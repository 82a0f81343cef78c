#include "data/share.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace paceline {

Range Grid::positions(std::uint64_t step) const {
  const std::uint64_t begin = step % steps_per_epoch() * batch;
  return {begin, std::min(begin + batch, examples)};
}

Range Grid::positions(const Share& share) const {
  const Range step = positions(share.step);
  return {std::min(step.begin + share.tiles.begin * tile, step.end),
          std::min(step.begin + share.tiles.end * tile, step.end)};
}

std::uint64_t Grid::tiles(std::uint64_t step) const {
  return (positions(step).size() + tile - 1) / tile;
}

std::uint64_t Grid::examples_before(std::uint64_t step) const {
  return step / steps_per_epoch() * examples + positions(step).begin;
}

std::uint64_t default_tile(std::uint64_t batch) {
  constexpr std::uint64_t kMostTiles = 64;
  return std::max<std::uint64_t>(1, (batch + kMostTiles - 1) / kMostTiles);
}

std::vector<Range> tree_nodes(Range tiles) {
  std::vector<Range> nodes;
  while (!tiles.empty()) {
    // The largest aligned node that starts here, then the largest that still fits.
    std::uint64_t size =
        tiles.begin == 0 ? std::bit_floor(tiles.size()) : tiles.begin & (~tiles.begin + 1);
    size = std::min(size, std::bit_floor(tiles.size()));
    nodes.push_back({tiles.begin, tiles.begin + size});
    tiles.begin += size;
  }
  return nodes;
}

}  // namespace paceline

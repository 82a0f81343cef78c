// A step is a set of example ranges: the arithmetic of steps, tiles and shares.
//
// With the seed and the epoch, the order of the examples is a known function (order.h).
// Step t of a run is a range of positions in that order; it consists of fixed tiles of a
// few examples; a share is a run of consecutive tiles of one step, computed by one
// worker. Nothing here depends on who computes what.
#pragma once

#include <cstdint>
#include <vector>

#include "base/range.h"

namespace paceline {

// Tiles [tiles.begin, tiles.end) of step `step`.
struct Share {
  std::uint64_t step = 0;
  Range tiles;

  bool operator==(const Share&) const = default;
};

// How `examples` positions per epoch are cut into steps of `batch` and tiles of `tile`.
// The last step of an epoch may be short, and so may the last tile of a step; no step
// crosses the end of an epoch.
struct Grid {
  std::uint64_t examples = 0;
  std::uint64_t batch = 0;
  std::uint64_t tile = 0;

  std::uint64_t steps_per_epoch() const { return (examples + batch - 1) / batch; }
  std::uint64_t epoch_of(std::uint64_t step) const { return step / steps_per_epoch(); }

  // Positions within the step's epoch.
  Range positions(std::uint64_t step) const;
  Range positions(const Share& share) const;

  std::uint64_t tiles(std::uint64_t step) const;
  Share whole(std::uint64_t step) const { return {step, {0, tiles(step)}}; }

  // Examples in all steps before `step`, over all epochs: the exact progress of a run
  // whose steps below `step` are complete.
  std::uint64_t examples_before(std::uint64_t step) const;
};

// A tile size that cuts a batch into at most 64 tiles: fine enough to deal evenly.
std::uint64_t default_tile(std::uint64_t batch);

// --deterministic adds tile gradients along a fixed binary tree over the tile numbers, so
// that the sum has the same bits under any cut. A node is an aligned run of 2^k tiles.
// This lists the largest nodes inside `tiles`, in order: what a share sends, at most
// 2·log2 of them.
std::vector<Range> tree_nodes(Range tiles);

}  // namespace paceline

// The linear maps of Winograd's method, for all channels of a tile at once.
//
// A tile is a square of pixels, given as pointers to their channels, row by row; in its planes
// it is 36 numbers per channel. Each map is T → M T Mᵀ with a small matrix M of six rows, and
// has its adjoint, P → Mᵀ P M, which takes gradients the other way.
#pragma once

#include <cstddef>

namespace paceline {

enum class WinogradMap {
  kInput,    // 6 × 6 pixels
  kKernel3,  // 3 × 3 weights
  kKernel5,  // 5 × 5
  kOutput4,  // 4 × 4 results: with kernels of 3 × 3. From planes they come by the adjoint
  kOutput2,  // 2 × 2: with kernels of 5 × 5
};

inline constexpr std::size_t kWinogradPlanes = 36;

// Where the numbers of one tile are: `stride` floats between its planes.
template <typename Float>
struct Planes {
  Float* first;
  std::size_t stride;
};

void winograd_map(WinogradMap map, const float* const* tile, std::size_t channels,
                  Planes<float> planes);

// Adds to the pixels of the tile.
void winograd_adjoint(WinogradMap map, Planes<const float> planes, std::size_t channels,
                      float* const* tile);

}  // namespace paceline

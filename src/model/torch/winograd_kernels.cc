#include "model/torch/winograd_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/torch/winograd_kernels.cc"
// The order matters.
// clang-format off
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
#include "model/torch/for_all-inl.h"
// clang-format on

#ifndef PACELINE_WINOGRAD_MATRICES
#define PACELINE_WINOGRAD_MATRICES
namespace paceline {

// Polynomials at the points 0, 1, -1, 2, -2 and infinity. The first matrix is the transpose of
// the one that interpolates; its denominators are in those of the kernels.
struct InputMatrix {
  static constexpr std::size_t kSide = 6;
  static constexpr float kValue[6][kSide] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                             {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                             {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
};
struct Kernel3Matrix {
  static constexpr std::size_t kSide = 3;
  static constexpr float kValue[6][kSide] = {{1.0f / 4, 0, 0},
                                             {-1.0f / 6, -1.0f / 6, -1.0f / 6},
                                             {-1.0f / 6, 1.0f / 6, -1.0f / 6},
                                             {1.0f / 24, 1.0f / 12, 1.0f / 6},
                                             {1.0f / 24, -1.0f / 12, 1.0f / 6},
                                             {0, 0, 1}};
};
struct Kernel5Matrix {
  static constexpr std::size_t kSide = 5;
  static constexpr float kValue[6][kSide] = {
      {1.0f / 4, 0, 0, 0, 0},
      {-1.0f / 6, -1.0f / 6, -1.0f / 6, -1.0f / 6, -1.0f / 6},
      {-1.0f / 6, 1.0f / 6, -1.0f / 6, 1.0f / 6, -1.0f / 6},
      {1.0f / 24, 1.0f / 12, 1.0f / 6, 1.0f / 3, 2.0f / 3},
      {1.0f / 24, -1.0f / 12, 1.0f / 6, -1.0f / 3, 2.0f / 3},
      {0, 0, 0, 0, 1}};
};
struct Output4Matrix {
  static constexpr std::size_t kSide = 4;
  static constexpr float kValue[6][kSide] = {{1, 0, 0, 0}, {1, 1, 1, 1},   {1, -1, 1, -1},
                                             {1, 2, 4, 8}, {1, -2, 4, -8}, {0, 0, 0, 1}};
};
struct Output2Matrix {
  static constexpr std::size_t kSide = 2;
  static constexpr float kValue[6][kSide] = {{1, 0}, {1, 1}, {1, -1}, {1, 2}, {1, -2}, {0, 1}};
};

}  // namespace paceline
#endif

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

constexpr std::size_t kPoints = 6;

// The sum over k of factor(k) · values[k], k below `Count`; factors are known when this is
// compiled, so that zeros cost nothing.
template <std::size_t Count, typename D, typename V, typename Factor>
HWY_INLINE V combine(D d, const V* values, const Factor& factor) {
  V sum = hn::Zero(d);
#pragma GCC unroll 6
  for (std::size_t k = 0; k < Count; ++k) {
    if (factor(k) != 0) sum = hn::MulAdd(hn::Set(d, factor(k)), values[k], sum);
  }
  return sum;
}

template <typename Matrix, typename D>
HWY_INLINE void map_lanes(D d, const float* const* tile, std::size_t at, Planes<float> planes) {
  using V = hn::Vec<D>;
  constexpr std::size_t kSide = Matrix::kSide;
  V half[kPoints * kSide];
#pragma GCC unroll 6
  for (std::size_t column = 0; column < kSide; ++column) {
    V in[kSide];
#pragma GCC unroll 6
    for (std::size_t k = 0; k < kSide; ++k) in[k] = hn::LoadU(d, tile[k * kSide + column] + at);
#pragma GCC unroll 6
    for (std::size_t i = 0; i < kPoints; ++i) {
      half[i * kSide + column] =
          combine<kSide>(d, in, [i](std::size_t k) { return Matrix::kValue[i][k]; });
    }
  }
#pragma GCC unroll 6
  for (std::size_t i = 0; i < kPoints; ++i) {
#pragma GCC unroll 6
    for (std::size_t j = 0; j < kPoints; ++j) {
      const V out =
          combine<kSide>(d, half + i * kSide, [j](std::size_t k) { return Matrix::kValue[j][k]; });
      hn::StoreU(out, d, planes.first + (i * kPoints + j) * planes.stride + at);
    }
  }
}

template <typename Matrix, typename D>
HWY_INLINE void adjoint_lanes(D d, Planes<const float> planes, std::size_t at, float* const* tile) {
  using V = hn::Vec<D>;
  constexpr std::size_t kSide = Matrix::kSide;
  V half[kSide * kPoints];
#pragma GCC unroll 6
  for (std::size_t column = 0; column < kPoints; ++column) {
    V in[kPoints];
#pragma GCC unroll 6
    for (std::size_t k = 0; k < kPoints; ++k) {
      in[k] = hn::LoadU(d, planes.first + (k * kPoints + column) * planes.stride + at);
    }
#pragma GCC unroll 6
    for (std::size_t i = 0; i < kSide; ++i) {
      half[i * kPoints + column] =
          combine<kPoints>(d, in, [i](std::size_t k) { return Matrix::kValue[k][i]; });
    }
  }
#pragma GCC unroll 6
  for (std::size_t i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
    for (std::size_t j = 0; j < kSide; ++j) {
      float* pixel = tile[i * kSide + j] + at;
      const V out = combine<kPoints>(d, half + i * kPoints,
                                     [j](std::size_t k) { return Matrix::kValue[k][j]; });
      hn::StoreU(hn::Add(hn::LoadU(d, pixel), out), d, pixel);
    }
  }
}

template <typename Matrix>
void map_tile(const float* const* tile, std::size_t channels, Planes<float> planes) {
  for_all(channels, [&](auto d, std::size_t at) { map_lanes<Matrix>(d, tile, at, planes); });
}

template <typename Matrix>
void adjoint_tile(Planes<const float> planes, std::size_t channels, float* const* tile) {
  for_all(channels, [&](auto d, std::size_t at) { adjoint_lanes<Matrix>(d, planes, at, tile); });
}

void map_any(WinogradMap map, const float* const* tile, std::size_t channels,
             Planes<float> planes) {
  switch (map) {
    case WinogradMap::kInput:
      return map_tile<InputMatrix>(tile, channels, planes);
    case WinogradMap::kKernel3:
      return map_tile<Kernel3Matrix>(tile, channels, planes);
    case WinogradMap::kKernel5:
      return map_tile<Kernel5Matrix>(tile, channels, planes);
    case WinogradMap::kOutput4:
      return map_tile<Output4Matrix>(tile, channels, planes);
    case WinogradMap::kOutput2:
      return map_tile<Output2Matrix>(tile, channels, planes);
  }
}

void adjoint_any(WinogradMap map, Planes<const float> planes, std::size_t channels,
                 float* const* tile) {
  switch (map) {
    case WinogradMap::kInput:
      return adjoint_tile<InputMatrix>(planes, channels, tile);
    case WinogradMap::kKernel3:
      return adjoint_tile<Kernel3Matrix>(planes, channels, tile);
    case WinogradMap::kKernel5:
      return adjoint_tile<Kernel5Matrix>(planes, channels, tile);
    case WinogradMap::kOutput4:
      return adjoint_tile<Output4Matrix>(planes, channels, tile);
    case WinogradMap::kOutput2:
      return adjoint_tile<Output2Matrix>(planes, channels, tile);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {

HWY_EXPORT(map_any);
HWY_EXPORT(adjoint_any);

void winograd_map(WinogradMap map, const float* const* tile, std::size_t channels,
                  Planes<float> planes) {
  HWY_DYNAMIC_DISPATCH(map_any)(map, tile, channels, planes);
}

void winograd_adjoint(WinogradMap map, Planes<const float> planes, std::size_t channels,
                      float* const* tile) {
  HWY_DYNAMIC_DISPATCH(adjoint_any)(map, planes, channels, tile);
}

}  // namespace paceline
#endif

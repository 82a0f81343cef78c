#include "optim/sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"

// The sixteen sums are an array of vectors, which vectors of unknown length cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim/sum.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void add_to(float* to, const float* from, std::size_t n) {
  const hn::ScalableTag<float> f;
  const std::size_t lanes = hn::Lanes(f);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(f, to + i), hn::LoadU(f, from + i)), f, to + i);
  }
  for (; i < n; ++i) to[i] += from[i];
}

// Element i is added to sum i % 16, however many vectors hold the sixteen sums. The square
// of a float is exact in a double, so that fusing it with the addition changes nothing.
double sum_of_squares(const float* values, std::size_t n) {
  constexpr std::size_t kSums = 16;
  const hn::CappedTag<double, kSums> f64;
  const hn::Rebind<float, decltype(f64)> f32;
  constexpr std::size_t kLanes = hn::MaxLanes(f64);
  hn::Vec<decltype(f64)> sums[kSums / kLanes];
  for (auto& sum : sums) sum = hn::Zero(f64);

  const auto accumulate = [&](const float* block) HWY_ATTR {
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kSums / kLanes; ++v) {
      const auto x = hn::PromoteTo(f64, hn::LoadU(f32, block + v * kLanes));
      sums[v] = hn::MulAdd(x, x, sums[v]);
    }
  };
  std::size_t i = 0;
  for (; i + kSums <= n; i += kSums) accumulate(values + i);
  float tail[kSums] = {};
  std::copy(values + i, values + n, tail);
  accumulate(tail);

  double lanes[kSums];
  for (std::size_t v = 0; v < kSums / kLanes; ++v) hn::StoreU(sums[v], f64, lanes + v * kLanes);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

// Zero times what is not finite is not a number, and stays one in every sum.
bool all_finite_in(const float* values, std::size_t n) {
  constexpr std::size_t kSums = 8;
  const hn::ScalableTag<float> f;
  const std::size_t lanes = hn::Lanes(f);
  hn::Vec<decltype(f)> sums[kSums];
  for (auto& sum : sums) sum = hn::Zero(f);
  std::size_t i = 0;
  for (; i + kSums * lanes <= n; i += kSums * lanes) {
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kSums; ++v) {
      sums[v] = hn::MulAdd(hn::LoadU(f, values + i + v * lanes), hn::Zero(f), sums[v]);
    }
  }
  auto sum = hn::Zero(f);
  for (; i + lanes <= n; i += lanes) sum = hn::MulAdd(hn::LoadU(f, values + i), hn::Zero(f), sum);
  for (const auto& part : sums) sum = hn::Add(sum, part);
  float rest = 0;
  for (; i < n; ++i) rest += 0 * values[i];
  return rest == 0 && hn::AllTrue(f, hn::Eq(sum, hn::Zero(f)));
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(add_to);
HWY_EXPORT(sum_of_squares);
HWY_EXPORT(all_finite_in);

}  // namespace

void add(std::span<float> to, std::span<const float> from) {
  PACELINE_CHECK(to.size() == from.size());
  HWY_DYNAMIC_DISPATCH(add_to)(to.data(), from.data(), to.size());
}

Norm& Norm::operator+=(const Norm& other) {
  sum_of_squares += other.sum_of_squares;
  finite = finite && other.finite;
  return *this;
}

double Norm::value() const {
  return std::sqrt(sum_of_squares);
}

Norm norm(std::span<const float> values) {
  const double sum = HWY_DYNAMIC_DISPATCH(sum_of_squares)(values.data(), values.size());
  // Squares of finite floats are below 2^256: no sum of them that fits in memory overflows.
  return {sum, std::isfinite(sum)};
}

bool all_finite(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(all_finite_in)(values.data(), values.size());
}

double clip_scale(double norm, double limit) {
  return limit > 0 && norm > limit ? limit / norm : 1;
}

}  // namespace paceline
#endif

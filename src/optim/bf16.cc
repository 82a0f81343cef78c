#include "optim/bf16.h"

#include <cstddef>
#include <cstring>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim/bf16.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Works on the bits: adding just less than half of what is cut off, and one more when the
// last bit that stays is odd, carries into it exactly when the nearest is above.
template <typename D, typename V>
HWY_INLINE V rounded(D d, V bits) {
  const V odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const V nearest = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7FFF)), odd));
  const V magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFF));
  const V quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(d, 0x40));
  return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x7F800000)), quiet, nearest);
}

void encode(const float* from, Bf16* to, std::size_t n) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  const auto* bits = reinterpret_cast<const std::uint32_t*>(from);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::TruncateTo(half, rounded(d, hn::LoadU(d, bits + i))), half, to + i);
  }
  const hn::CappedTag<std::uint32_t, 1> one;
  for (; i < n; ++i) {
    to[i] = static_cast<Bf16>(hn::GetLane(rounded(one, hn::LoadU(one, bits + i))));
  }
}

void decode(const Bf16* from, float* to, std::size_t n) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  auto* bits = reinterpret_cast<std::uint32_t*>(to);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(half, from + i))), d, bits + i);
  }
  for (; i < n; ++i) bits[i] = static_cast<std::uint32_t>(from[i]) << 16;
}

void add_halves(Bf16* to, const Bf16* a, const Bf16* b, std::size_t n) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::ScalableTag<float> f;
  const hn::Rebind<std::uint16_t, decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  const auto load = [&](const Bf16* at) HWY_ATTR {
    return hn::BitCast(f, hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(half, at))));
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto sum = hn::BitCast(d, hn::Add(load(a + i), load(b + i)));
    hn::StoreU(hn::TruncateTo(half, rounded(d, sum)), half, to + i);
  }
  for (; i < n; ++i) {
    float x[2];
    decode(a + i, x, 1);
    decode(b + i, x + 1, 1);
    const float sum = x[0] + x[1];
    encode(&sum, to + i, 1);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {

HWY_EXPORT(encode);
HWY_EXPORT(decode);
HWY_EXPORT(add_halves);

void to_bf16(std::span<const float> from, std::span<Bf16> to) {
  PACELINE_CHECK(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(encode)(from.data(), to.data(), from.size());
}

void from_bf16(std::span<const Bf16> from, std::span<float> to) {
  PACELINE_CHECK(from.size() == to.size());
  HWY_DYNAMIC_DISPATCH(decode)(from.data(), to.data(), from.size());
}

void add_bf16(std::span<Bf16> to, std::span<const Bf16> a, std::span<const Bf16> b) {
  PACELINE_CHECK(to.size() == a.size() && a.size() == b.size());
  HWY_DYNAMIC_DISPATCH(add_halves)(to.data(), a.data(), b.data(), to.size());
}

}  // namespace paceline
#endif

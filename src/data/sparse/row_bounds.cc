#include "data/sparse/row_bounds.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/sparse/row_bounds.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Whether all are within: the largest of all, and the largest of those that are not hot, which are
// negative as signed numbers.
HWY_INLINE bool are_within(const Key* keys, std::size_t count, const KeyBounds& bounds) {
  const hn::ScalableTag<Key> u;
  const hn::RebindToSigned<decltype(u)> s;
  const std::size_t lanes = hn::Lanes(u);
  Key any = 0;
  std::int32_t plain = 0;
  std::size_t i = 0;
  if (count >= lanes) {
    auto most = hn::Zero(u);
    auto most_plain = hn::Zero(s);
    const auto look = [&](std::size_t at) HWY_ATTR {
      const auto some = hn::LoadU(u, keys + at);
      most = hn::Max(most, some);
      most_plain = hn::Max(most_plain, hn::BitCast(s, some));
    };
    for (; i + lanes <= count; i += lanes) look(i);
    look(count - lanes);  // some of them again
    i = count;
    any = hn::GetLane(hn::MaxOfLanes(u, most));
    plain = hn::GetLane(hn::MaxOfLanes(s, most_plain));
  }
  for (; i < count; ++i) {
    any = std::max(any, keys[i]);
    plain = std::max(plain, static_cast<std::int32_t>(keys[i]));
  }
  return any <= bounds.hot && static_cast<Key>(plain) <= bounds.feature;
}

// 64 bits cannot overflow with lengths of 32.
bool holds(std::span<const std::uint32_t> block, std::span<const std::uint32_t> places,
           const KeyBounds& bounds) {
  for (const std::uint64_t start : places) {
    if (start + kRowHead > block.size()) return false;
    const std::uint64_t keys = block[start + 1];
    const std::uint64_t values = block[start + 2];
    if (values > keys || start + row_words(keys, values) > block.size()) return false;
    if (!are_within(block.data() + start + kRowHead, keys, bounds)) return false;
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(holds);

}  // namespace

bool holds_rows(std::span<const std::uint32_t> block, std::span<const std::uint32_t> places,
                const KeyBounds& bounds) {
  return HWY_DYNAMIC_DISPATCH(holds)(block, places, bounds);
}

}  // namespace paceline
#endif

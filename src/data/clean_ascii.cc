#include "data/clean_ascii.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/clean_ascii.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using CleanBytes = hn::CappedTag<std::uint8_t, 32>;

HWY_INLINE std::uint64_t bits_of(CleanBytes tag, hn::Mask<CleanBytes> mask) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(tag, mask, bits);
  std::uint64_t word = 0;
  std::memcpy(&word, bits, sizeof word);
  return word;
}

// Runs of letters are copied one by one, each with what is behind it: the next one covers that.
const std::uint8_t* clean_blocks(const std::uint8_t* from, const std::uint8_t* end,
                                 WordPlace& place) {
  const CleanBytes tag;
  const auto block = static_cast<std::ptrdiff_t>(hn::Lanes(tag));
  const std::uint64_t in_block = (std::uint64_t{1} << block) - 1;
  const auto small_bit = hn::Set(tag, std::uint8_t{0x20});
  auto [at, begun, blank] = place;
  for (; end - from >= 2 * block; from += block) {
    const auto bytes = hn::LoadU(tag, from);
    if (!hn::AllTrue(tag, hn::Lt(bytes, hn::Set(tag, std::uint8_t{128})))) break;
    const auto from_a = hn::Sub(hn::Or(bytes, small_bit), hn::Set(tag, std::uint8_t{'a'}));
    const auto from_0 = hn::Sub(bytes, hn::Set(tag, std::uint8_t{'0'}));
    const auto is_letter = hn::Or(hn::Lt(from_a, hn::Set(tag, std::uint8_t{26})),
                                  hn::Lt(from_0, hn::Set(tag, std::uint8_t{10})));
    const auto is_dropped = hn::Eq(bytes, hn::Set(tag, std::uint8_t{'\''}));
    std::uint64_t letters = bits_of(tag, is_letter);
    std::uint64_t separators = ~(letters | bits_of(tag, is_dropped)) & in_block;
    while (letters != 0) {
      const int first = std::countr_zero(letters);
      const int count = std::countr_one(letters >> first);
      blank |= (separators & ((std::uint64_t{1} << first) - 1)) != 0 ? begun : 0;
      *at = ' ';
      at += blank;
      // Digits have that bit already.
      hn::StoreU(hn::Or(hn::LoadU(tag, from + first), small_bit), tag,
                 reinterpret_cast<std::uint8_t*>(at));
      at += count;
      begun = 1;
      blank = 0;
      const std::uint64_t behind = ~std::uint64_t{0} << (first + count);
      letters &= behind;
      separators &= behind;
    }
    blank |= separators != 0 ? begun : 0;
  }
  place = {at, begun, blank};
  return from;
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(clean_blocks);

}  // namespace

const std::uint8_t* clean_ascii_blocks(const std::uint8_t* from, const std::uint8_t* end,
                                       WordPlace& place) {
  return HWY_DYNAMIC_DISPATCH(clean_blocks)(from, end, place);
}

}  // namespace paceline
#endif

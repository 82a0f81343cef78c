#include "data/sparse/separators.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/sparse/separators.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// At most 64 lanes, so that a block of 64 bytes is a whole number of vectors.
using Bytes = hn::CappedTag<std::uint8_t, 64>;
constexpr std::size_t kBlock = 64;

// A bit for each byte of the block, set where it is one of the marks.
HWY_INLINE std::uint64_t marks_in(const char* block, const Separators::Marks& marks) {
  const Bytes tag;
  const std::size_t step = hn::Lanes(tag);
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kBlock; i += step) {
    const auto some = hn::LoadU(tag, reinterpret_cast<const std::uint8_t*>(block) + i);
    auto is = hn::Eq(some, hn::Set(tag, static_cast<std::uint8_t>(marks[0])));
    is = hn::Or(is, hn::Eq(some, hn::Set(tag, static_cast<std::uint8_t>(marks[1]))));
    is = hn::Or(is, hn::Eq(some, hn::Set(tag, static_cast<std::uint8_t>(marks[2]))));
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(tag, is, bits);
    std::uint64_t word = 0;
    std::memcpy(&word, bits, sizeof word);
    found |= word << i;
  }
  return found;
}

// Writes kAtOnce places whether there are so many or not: a loop that ends at each block's own
// count would be mispredicted at each block.
HWY_INLINE std::uint32_t* put_places(std::uint64_t bits, std::size_t first, std::uint32_t* out) {
  constexpr std::size_t kAtOnce = Separators::kAtOnce;
  for (int left = std::popcount(bits); left > 0; left -= static_cast<int>(kAtOnce)) {
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      out[i] =
          static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
    }
    out += std::min(left, static_cast<int>(kAtOnce));
  }
  return out;
}

std::size_t find_marks(std::string_view line, const Separators::Marks& marks,
                       std::uint32_t* const places) {
  std::uint32_t* out = places;
  std::size_t at = 0;
  for (; at + kBlock <= line.size(); at += kBlock) {
    out = put_places(marks_in(line.data() + at, marks), at, out);
  }
  if (const std::size_t rest = line.size() - at; rest > 0) {
    char block[kBlock];
    std::memcpy(block, line.data() + at, rest);
    const std::uint64_t in_line = ~std::uint64_t{0} >> (kBlock - rest);
    out = put_places(marks_in(block, marks) & in_line, at, out);
  }
  return static_cast<std::size_t>(out - places);
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(find_marks);

}  // namespace

std::span<const std::uint32_t> Separators::find(std::string_view line, const Marks& marks) {
  const std::size_t most = line.size() + kAtOnce;  // those behind the last do not count
  if (most > room_) {
    room_ = std::bit_ceil(most);
    places_ = std::make_unique_for_overwrite<std::uint32_t[]>(room_);
  }
  return {places_.get(), HWY_DYNAMIC_DISPATCH(find_marks)(line, marks, places_.get())};
}

}  // namespace paceline
#endif

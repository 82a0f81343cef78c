// Words as keys of tables. Most are short: eight characters fit in a register, and are then
// compared without a look at the text.
#pragma once

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/random.h"
#include "prepare/sliced_file.h"

namespace paceline {

inline constexpr std::size_t kShortWord = 8;

// The characters themselves of a short word, a hash of a longer one. Not of an empty one.
inline std::uint64_t key_of_word(std::string_view word) {
  const std::size_t size = word.size();
  const char* const at = word.data();
  if (size > kShortWord) return XXH3_64bits(at, size);
  if (size >= 4) {  // two halves, which may overlap
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + size - sizeof last, sizeof last);
    return first | std::uint64_t{last} << 8 * (size - sizeof last);
  }
  const auto byte = [at](std::size_t i) {
    return std::uint64_t{static_cast<unsigned char>(at[i])} << 8 * i;
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

// Where to look first in a table of 2^(64 - shift) places.
inline std::size_t slot_of_key(std::uint64_t key, unsigned shift) {
  return (key * 0x9E3779B97F4A7C15) >> shift;
}

// In which slice of a list a word is. It says nothing of the word's place in a table: a table of
// the words of one slice would be full in one place, and empty in all others.
inline std::size_t slice_of_word(std::uint64_t key) {
  return slice_of(mix(key));
}

// How many blanks must follow a text for what comes next.
inline constexpr std::size_t kBlanksBehind = 16;

// Calls `visit` with each word of a text and its key. The words have one blank between them. Eight
// characters are looked at together: a short word is found, and its key made, without a loop.
template <typename Visit>
void for_each_clean_word(std::string_view words, const Visit& visit) {
  constexpr std::uint64_t kEachByte = 0x0101010101010101;
  // The place of the first blank, or 8.
  const auto first_blank = [](std::uint64_t bytes) {
    const std::uint64_t left = bytes ^ (kEachByte * ' ');
    const std::uint64_t zero = (left - kEachByte) & ~left & (kEachByte * 0x80);
    return static_cast<std::size_t>(zero == 0 ? 8 : std::countr_zero(zero) / 8);
  };
  const char* const end = words.data() + words.size();
  for (const char* at = words.data(); at < end;) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    std::size_t size = first_blank(bytes);
    if (size < sizeof bytes) {
      visit(std::string_view(at, size), bytes & ((std::uint64_t{1} << 8 * size) - 1));
    } else {
      for (std::size_t more = 8; more == 8; size += more) {
        std::uint64_t next = 0;
        std::memcpy(&next, at + size, sizeof next);
        more = first_blank(next);
      }
      const std::string_view word(at, size);
      visit(word, key_of_word(word));
    }
    at += size + 1;
  }
}

}  // namespace paceline

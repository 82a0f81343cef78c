// Words as keys of tables. Most are short: eight characters fit in a register, and are then
// compared without a look at the text.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string_view>

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

inline std::uint64_t mixed_key(std::uint64_t key) {
  return key * 0x9E3779B97F4A7C15;
}

// Where to look first in a table of 2^(64 - shift) places.
inline std::size_t slot_of_key(std::uint64_t key, unsigned shift) {
  return mixed_key(key) >> shift;
}

// Calls `visit` with each word of a text whose words have one blank between them.
template <typename Visit>
void for_each_clean_word(std::string_view words, const Visit& visit) {
  const char* at = words.data();
  const char* const end = at + words.size();
  while (at < end) {
    const char* begin = at;
    while (at < end && *at != ' ') ++at;
    visit(std::string_view(begin, static_cast<std::size_t>(at - begin)));
    ++at;
  }
}

}  // namespace paceline

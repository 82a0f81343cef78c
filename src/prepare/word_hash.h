// A hash of words, most of which are short: eight characters fit in a register.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace paceline {

inline std::uint64_t hash_of_word(std::string_view word) {
  if (word.size() > 8) return XXH3_64bits(word.data(), word.size());
  std::uint64_t bits = 0;
  std::memcpy(&bits, word.data(), word.size());
  bits ^= static_cast<std::uint64_t>(word.size()) << 56;
  bits *= 0x9E3779B97F4A7C15;
  return bits ^ (bits >> 32);
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

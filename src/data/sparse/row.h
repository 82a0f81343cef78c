// A row of sparse data: a label and the features that are not zero, by key.
//
// Rows lie in memory as 32-bit words, so that a mapped file can be read as it is:
//
//   label (a float) · how many keys · how many of them have a value · keys · values
//
// The values belong to the first keys; that of the others is 1. No key occurs twice. A key is the
// number of a feature, or, with its highest bit set, a place in the list of hot keys: features that
// many rows have, see row_cache.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace paceline {

using Key = std::uint32_t;
inline constexpr Key kHotBit = Key{1} << 31;
inline constexpr std::uint32_t kMostBits = 30;
inline constexpr std::size_t kRowHead = 3;  // words before the keys

struct RowView {
  float label = 0;
  std::span<const Key> keys;
  std::span<const float> values;  // of the first keys

  float value(std::size_t i) const { return i < values.size() ? values[i] : 1.0F; }
};

inline RowView row_at(const std::uint32_t* words) {
  const std::size_t keys = words[1];
  return {std::bit_cast<float>(words[0]),
          {words + kRowHead, keys},
          {reinterpret_cast<const float*>(words + kRowHead + keys), words[2]}};
}

inline std::size_t row_words(std::size_t keys, std::size_t values) {
  return kRowHead + keys + values;
}

}  // namespace paceline

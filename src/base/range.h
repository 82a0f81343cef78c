// Half-open ranges of indices, and the even division of a length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace paceline {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool contains(std::uint64_t index) const { return begin <= index && index < end; }
  bool operator==(const Range&) const = default;
};

// Part `index` of `length` elements divided among `parts`. The first length % parts
// parts take one extra; when length < parts the tail parts are empty.
inline Range even_part(std::uint64_t length, std::uint64_t parts, std::uint64_t index) {
  const std::uint64_t base = length / parts;
  const std::uint64_t extra = length % parts;
  const std::uint64_t begin = index * base + std::min(index, extra);
  return {begin, begin + base + (index < extra ? 1 : 0)};
}

}  // namespace paceline

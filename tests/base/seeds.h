// The seeds of tests that loop over many. With PACELINE_SEEDS=2/3 in the environment they take the
// second third; so the presets try different ones, and CI all of them once. Without it, all.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace paceline {

// Seeds `first` to `last`. Neighbours stay together: tests derive what varies from the remainder of
// the seed, and every part must meet all of it.
struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
  std::uint64_t parts = 1;

  // What is expected to happen in `count` of all seeds happens in so many of these.
  std::uint64_t share_of(std::uint64_t count) const { return count / parts; }
};

// Of the seeds 1 to `count`, those of `part`, e.g. "2/3"; of null, all.
inline Seeds seeds(std::uint64_t count, const char* part = std::getenv("PACELINE_SEEDS")) {
  const std::string_view text = part ? part : "1/1";
  std::uint64_t number = 0;
  std::uint64_t parts = 0;
  const char* end = text.data() + text.size();
  const auto slash = std::from_chars(text.data(), end, number);
  const bool separated = slash.ptr != end && *slash.ptr == '/';
  if (!separated || std::from_chars(slash.ptr + 1, end, parts).ptr != end || number < 1 ||
      number > parts) {
    throw std::invalid_argument("PACELINE_SEEDS is '" + std::string(text) +
                                "': give a part of all, e.g. 2/3");
  }
  return {count * (number - 1) / parts + 1, count * number / parts, parts};
}

}  // namespace paceline

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace paceline {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  // In a word of three letters, two wrong ones are another word.
  const std::size_t limit = word.size() < 4 ? 1 : std::max<std::size_t>(2, word.size() / 3);
  std::size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto found = closest(word, candidates);
  return found ? fmt::format(" — did you mean '{}'?", *found) : std::string();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == separator) {
      parts.emplace_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::uint64_t digest_bits(std::string_view text) {
  std::uint64_t state = text.size();
  for (const char c : text) state = mix(state ^ static_cast<unsigned char>(c)) + 1;
  return state;
}

std::string digest(std::string_view text) {
  return fmt::format("{:016x}", digest_bits(text));
}

}  // namespace paceline

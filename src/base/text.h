// Small text helpers that messages to people need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

// The candidate closest to `word` by edit distance, if any is close enough to be a typo.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates);

// "'batc': unknown setting; did you mean 'batch'?" is built from this: " — did you mean
// 'batch'?" or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

// A digest of a text, as 16 hexadecimal digits; not for security.
std::string digest(std::string_view text);
std::uint64_t digest_bits(std::string_view text);  // the same, as a number

}  // namespace paceline

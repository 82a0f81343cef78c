#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

struct Scaled {
  double value;
  std::string_view unit;
};

// Splits "1.5G" into its number and the rest.
Scaled split_number(std::string_view text, std::string_view what) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) {
    throw ConfigError("'{}' is not {}", text, what);
  }
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return {value, unit};
}

// After the point, for three digits in all.
int decimals(double value) {
  return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  value /= 1000;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, decimals(value), kUnits[unit]);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string format_duration(Duration duration) {
  const double s = seconds(duration);
  if (s < 0.9995e-3) return fmt::format("{:.0f} µs", s * 1e6);
  if (s < 0.9995) return fmt::format("{:.0f} ms", s * 1e3);
  if (s < 59.5) return fmt::format("{:.{}f} s", s, std::max(1, decimals(s)));
  const auto whole = static_cast<std::uint64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_rate(double per_second) {
  if (per_second >= 999'500) return fmt::format("{:.2f} M/s", per_second / 1e6);
  if (per_second >= 9'995) return fmt::format("{:.1f} k/s", per_second / 1e3);
  return fmt::format("{:.{}f} /s", per_second, per_second < 9.995 ? 2 : 0);
}

std::uint64_t parse_bytes(std::string_view text) {
  const auto [value, unit] = split_number(text, "a size such as 512M, 1.5G or 1GiB");
  constexpr std::array<std::pair<std::string_view, double>, 14> kUnits = {{{"", 1.0},
                                                                           {"B", 1.0},
                                                                           {"k", 1e3},
                                                                           {"K", 1e3},
                                                                           {"kB", 1e3},
                                                                           {"M", 1e6},
                                                                           {"MB", 1e6},
                                                                           {"G", 1e9},
                                                                           {"GB", 1e9},
                                                                           {"T", 1e12},
                                                                           {"TB", 1e12},
                                                                           {"KiB", 0x1p10},
                                                                           {"MiB", 0x1p20},
                                                                           {"GiB", 0x1p30}}};
  for (const auto& [name, factor] : kUnits) {
    if (unit == name && value * factor < 0x1p63) return static_cast<std::uint64_t>(value * factor);
  }
  throw ConfigError("'{}' is not a size such as 512M, 1.5G or 1GiB", text);
}

// Rounded: "100us" must not become 99,999 ns because 1e-6 is not exact. What is long is a whole
// number of microseconds, since the text of a double could not tell nanoseconds of it apart.
Duration parse_duration(std::string_view text) {
  const auto [value, unit] = split_number(text, "a duration such as 250ms, 2s or 5min");
  constexpr double kMost = 1e15;  // microseconds
  constexpr double kLong = 0x1p40;
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"", 1e6}, {"us", 1.0}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}}};
  for (const auto& [name, factor] : kUnits) {
    const double microseconds = value * factor;
    if (unit != name || !(microseconds < kMost)) continue;
    if (microseconds >= kLong) return std::chrono::microseconds(std::llround(microseconds));
    return std::chrono::nanoseconds(std::llround(microseconds * 1000));
  }
  throw ConfigError("'{}' is not a duration such as 250ms, 2s or 5min", text);
}

}  // namespace paceline

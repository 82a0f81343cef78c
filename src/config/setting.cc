#include "config/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace paceline {

Setting blank(std::string key, SettingType type, std::string help) {
  Setting made;
  made.key = std::move(key);
  made.type = type;
  made.help = std::move(help);
  return made;
}

std::string placeholder(SettingType type) {
  switch (type) {
    case SettingType::kInteger:
      return "N";
    case SettingType::kNumber:
      return "X";
    case SettingType::kBoolean:
      return "";
    case SettingType::kText:
      return "TEXT";
    case SettingType::kChoice:
      return "NAME";
    case SettingType::kDuration:
      return "TIME";
    case SettingType::kBytes:
      return "BYTES";
    case SettingType::kPath:
      return "PATH";
  }
  return "";
}

std::uint64_t parse_integer(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool negative = text.starts_with('-');
  if (error == std::errc::result_out_of_range || (rest == end && value > most)) {
    throw ConfigError("must be at most {}, not {}", most, text);
  }
  if (negative &&
      std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
      text.size() > 1) {
    throw ConfigError("must be at least {}, not {}", least, text);
  }
  if (error != std::errc() || rest != end) throw ConfigError("'{}' is not a whole number", text);
  if (value < least) throw ConfigError("must be at least {}, not {}", least, text);
  return value;
}

double parse_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    throw ConfigError("{} is too large or too small a number", text);
  }
  if (error != std::errc() || rest != end) throw ConfigError("'{}' is not a number", text);
  if (!std::isfinite(value)) throw ConfigError("must be a finite number, not {}", text);
  return value;
}

bool parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw ConfigError("must be true or false, not '{}'", text);
}

std::size_t parse_choice(std::string_view text, const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  throw ConfigError("'{}' is not one of {}{}", text, join(choices, ", "),
                    did_you_mean(text, choices));
}

Duration parse_duration_at_least(std::string_view text, Duration least) {
  // Is a bare 5 seconds or milliseconds? Only of nothing it does not matter.
  if (text.find_first_not_of("0123456789.") == std::string_view::npos &&
      text.find_first_of("123456789") != std::string_view::npos) {
    throw ConfigError("'{0}' has no unit: write {0}s, {0}ms or {0}min", text);
  }
  const Duration value = parse_duration(text);
  if (value < least) {
    throw ConfigError("must be at least {}, not {}", format_exact_duration(least), text);
  }
  return value;
}

std::string format_number(double value) {
  return fmt::format("{}", value);
}

std::string format_exact_duration(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  constexpr std::int64_t kMicrosecond = 1'000;
  constexpr std::int64_t kMillisecond = 1'000'000;
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (count % kSecond == 0) return fmt::format("{}s", count / kSecond);
  if (count % kMillisecond == 0) return fmt::format("{}ms", count / kMillisecond);
  return fmt::format("{}us", static_cast<double>(count) / kMicrosecond);
}

void check_number(double value, std::string_view text, const NumberRule& rule) {
  if (!rule.holds(value)) throw ConfigError("must be {}, not {}", rule.sentence, text);
}

}  // namespace paceline

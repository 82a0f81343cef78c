// One setting of a run: a name, a text form, and the field of RunConfig it stands for.
//
// The text form is the only one: a flag's value, a recipe's value and the line in
// config.toml are all read by parse() and written by format(), which are inverse to each
// other. The builders below make settings of each type; settings.cc lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "config/run_config.h"

namespace paceline {

enum class SettingType { kInteger, kNumber, kBoolean, kText, kChoice, kDuration, kBytes, kPath };

enum class SettingScope {
  kEverywhere,   // flag, recipe, config.toml
  kCommandLine,  // flag and config.toml: concerns one run, not a recipe
  kResolved,     // config.toml only
};

struct Setting {
  std::string key;  // "member-timeout"
  std::string section;
  std::string help;  // one line, without a full stop
  SettingType type = SettingType::kText;
  SettingScope scope = SettingScope::kEverywhere;
  std::vector<std::string> choices;
  std::string default_text;  // as people see it
  bool shared = true;        // all processes of a run must agree on it; else it is each host's own

  // Throws ConfigError with the sentence alone; the caller says where the value stood.
  std::function<void(RunConfig&, std::string_view)> parse;
  std::function<std::string(const RunConfig&)> format;
};

Setting blank(std::string key, SettingType type, std::string help);  // without a field
std::string placeholder(SettingType type);  // "N", "X", "NAME", "TIME", …

// The text forms. TOML's integers have 63 bits, so ours have, too.
inline constexpr std::uint64_t kLargestInteger = std::numeric_limits<std::int64_t>::max();
std::uint64_t parse_integer(std::string_view text, std::uint64_t least, std::uint64_t most);
double parse_number(std::string_view text);
bool parse_boolean(std::string_view text);
std::size_t parse_choice(std::string_view text, const std::vector<std::string>& choices);
Duration parse_duration_at_least(std::string_view text, Duration least);
std::string format_number(double value);               // shortest that reads back the same
std::string format_exact_duration(Duration duration);  // "250ms"; reads back the same

// Where a number must lie: "greater than 0", checked by `holds`.
struct NumberRule {
  const char* sentence;
  bool (*holds)(double);
};
inline constexpr NumberRule kPositive = {"greater than 0", [](double x) { return x > 0; }};
inline constexpr NumberRule kNotNegative = {"0 or more", [](double x) { return x >= 0; }};
inline constexpr NumberRule kFraction = {"at least 0 and less than 1",
                                         [](double x) { return x >= 0 && x < 1; }};
void check_number(double value, std::string_view text, const NumberRule& rule);

// Builders. `field` is a generic lambda that returns a reference to the field of a
// RunConfig, const or not: [](auto& c) -> auto& { return c.batch; }
template <typename Field>
Setting integer(std::string key, Field field, std::string help, std::uint64_t least = 0,
                std::uint64_t most = kLargestInteger) {
  Setting made = blank(std::move(key), SettingType::kInteger, std::move(help));
  made.parse = [=](RunConfig& c, std::string_view text) {
    field(c) =
        static_cast<std::remove_reference_t<decltype(field(c))>>(parse_integer(text, least, most));
  };
  made.format = [=](const RunConfig& c) { return std::to_string(field(c)); };
  return made;
}

template <typename Field>
Setting number(std::string key, Field field, std::string help, NumberRule rule) {
  Setting made = blank(std::move(key), SettingType::kNumber, std::move(help));
  made.parse = [=](RunConfig& c, std::string_view text) {
    const double value = parse_number(text);
    check_number(value, text, rule);
    field(c) = value;
  };
  made.format = [=](const RunConfig& c) { return format_number(field(c)); };
  return made;
}

template <typename Field>
Setting boolean(std::string key, Field field, std::string help) {
  Setting made = blank(std::move(key), SettingType::kBoolean, std::move(help));
  made.parse = [=](RunConfig& c, std::string_view text) { field(c) = parse_boolean(text); };
  made.format = [=](const RunConfig& c) { return field(c) ? "true" : "false"; };
  return made;
}

// A text or a path; with `choices`, one of these.
template <typename Field>
Setting text(std::string key, Field field, std::string help,
             std::vector<std::string> choices = {}) {
  Setting made = blank(std::move(key), choices.empty() ? SettingType::kText : SettingType::kChoice,
                       std::move(help));
  made.choices = std::move(choices);
  made.parse = [=, allowed = made.choices](RunConfig& c, std::string_view value) {
    if (!allowed.empty()) parse_choice(value, allowed);
    field(c) = std::string(value);
  };
  made.format = [=](const RunConfig& c) { return std::string(field(c)); };
  return made;
}

template <typename Field>
Setting path(std::string key, Field field, std::string help) {
  Setting made = text(std::move(key), field, std::move(help));
  made.type = SettingType::kPath;
  return made;
}

// The enumerators of E are 0, 1, 2, … in the order of `choices`.
template <typename Field>
Setting choice(std::string key, Field field, std::string help, std::vector<std::string> choices) {
  Setting made = blank(std::move(key), SettingType::kChoice, std::move(help));
  made.choices = std::move(choices);
  made.parse = [=, names = made.choices](RunConfig& c, std::string_view text) {
    field(c) = static_cast<std::remove_reference_t<decltype(field(c))>>(parse_choice(text, names));
  };
  made.format = [=, names = made.choices](const RunConfig& c) {
    return names[static_cast<std::size_t>(field(c))];
  };
  return made;
}

template <typename Field>
Setting duration(std::string key, Field field, std::string help, Duration least) {
  Setting made = blank(std::move(key), SettingType::kDuration, std::move(help));
  made.parse = [=](RunConfig& c, std::string_view text) {
    field(c) = parse_duration_at_least(text, least);
  };
  made.format = [=](const RunConfig& c) { return format_exact_duration(field(c)); };
  return made;
}

template <typename Field>
Setting bytes(std::string key, Field field, std::string help) {
  Setting made = blank(std::move(key), SettingType::kBytes, std::move(help));
  made.parse = [=](RunConfig& c, std::string_view text) { field(c) = parse_bytes(text); };
  made.format = [=](const RunConfig& c) { return std::to_string(field(c)); };
  return made;
}

}  // namespace paceline

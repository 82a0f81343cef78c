#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/parse_error.h"
#include "config/settings.h"

namespace paceline {
namespace {

std::string flag_help(const Setting& setting) {
  std::string help = setting.help;
  if (!setting.choices.empty()) help += ": " + join(setting.choices, ", ");
  return fmt::format("{} [{}]", help, setting.default_text);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

// A switch may have a value behind "=", of which the parser would take more than it
// understands.
void check_switch(const std::string& name, const std::string& value) {
  constexpr std::array kWords = {"true", "false", "yes", "no", "on", "off", "1", "0"};
  if (std::find(kWords.begin(), kWords.end(), value) != kWords.end()) return;
  throw ConfigError("{}={} is neither true nor false: write {} alone, or with {}", name, value,
                    name, fmt::join(kWords, ", "));
}

// The option that a word names; nothing when its value is behind it already, or it takes
// none.
const CLI::Option* check_option(const CLI::App& app, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) {
    throw ConfigError("unknown option '{}'{} (see '{} --help')", name,
                      did_you_mean(name, option_names(app)), full_name(app));
  }
  const bool is_switch = option->get_items_expected_max() == 0;
  const bool has_value = equals != std::string::npos;
  if (is_switch && has_value) check_switch(name, word.substr(equals + 1));
  if (!is_switch && equals == word.size() - 1) throw ConfigError("{}", missing_value(*option, app));
  return is_switch || has_value ? nullptr : option;
}

}  // namespace

void add_setting_flags(CLI::App& app, std::map<std::string, std::string>& given) {
  for (const Setting& setting : settings()) {
    if (setting.scope == SettingScope::kResolved) continue;
    const std::string& key = setting.key;
    if (setting.type == SettingType::kBoolean) {
      app.add_flag_function(
             fmt::format("--{0},!--no-{0}", key),
             [&given, key](std::int64_t count) { given[key] = count > 0 ? "true" : "false"; },
             flag_help(setting))
          ->group(setting.section);
    } else {
      app.add_option_function<std::string>(
             "--" + key, [&given, key](const std::string& value) { given[key] = value; },
             flag_help(setting))
          ->option_text(placeholder(setting.type))
          ->group(setting.section);
    }
  }
}

void check_words(const CLI::App& root, std::span<const std::string> words) {
  const CLI::App* app = &root;
  const CLI::Option* waiting = nullptr;  // for its value
  for (const std::string& word : words) {
    if (word == "--") return;
    if (word.starts_with("--")) {
      if (waiting != nullptr) throw ConfigError("{}", missing_value(*waiting, *app));
      waiting = check_option(*app, word);
    } else if (waiting != nullptr) {
      waiting = nullptr;
    } else if (!word.starts_with('-') && !app->get_subcommands({}).empty()) {
      const CLI::App* command = find_command(*app, word);
      if (command == nullptr) {
        throw ConfigError("'{}' is not a command of {}{} (see '{} --help')", word, full_name(*app),
                          did_you_mean(word, command_names(*app)), full_name(*app));
      }
      app = command;
    }
  }
  if (waiting != nullptr) throw ConfigError("{}", missing_value(*waiting, *app));
}

}  // namespace paceline

#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/format.h"

namespace paceline {
namespace {

constexpr std::size_t kLeftColumn = 30;
constexpr std::size_t kWidest = 100;

bool takes_negation(const CLI::Option& option) {
  return option.get_lnames().size() == 2 && option.get_lnames()[1].starts_with("no-");
}

std::string left_side(const CLI::Option& option) {
  if (!option.nonpositional()) return option.get_name(true, false);
  if (takes_negation(option)) return "--[no-]" + option.get_lnames()[0];
  std::string names;
  for (const auto& name : option.get_snames()) names += "-" + name + ", ";
  names += "--" + option.get_lnames()[0];
  return option.get_option_text().empty() ? names : names + " " + option.get_option_text();
}

std::string positional(const CLI::Option& option) {
  std::string name = option.get_name(true, false);
  if (option.get_expected_max() > 1) name += "…";
  return option.get_required() ? " " + name : " [" + name + "]";
}

bool is_shown(const CLI::App* app) {
  return !app->get_group().empty();
}

}  // namespace

HelpFormatter::HelpFormatter(int columns)
    : columns_(std::min(kWidest, static_cast<std::size_t>(std::max(columns, 40)))) {}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string out = usage(*app) + "\n";
  for (const std::string& line : wrap(app->get_description(), columns_)) out += line + "\n";
  out += commands(*app) + options(*app);
  if (!app->get_footer().empty()) out += "\n" + app->get_footer();
  return out;
}

std::string HelpFormatter::usage(const CLI::App& app) const {
  std::string out = "Usage: " + full_name(app);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) out += positional(*option);
  }
  if (!app.get_subcommands(is_shown).empty()) out += " COMMAND";
  return out + " [OPTIONS]\n";
}

std::string HelpFormatter::commands(const CLI::App& app) const {
  const auto shown = app.get_subcommands(is_shown);
  if (shown.empty()) return "";
  std::string out = "\nCommands:\n";
  for (const CLI::App* command : shown) {
    // The first sentence of the description says enough here.
    const std::string description = command->get_description();
    std::size_t end = description.find('.');
    while (end != std::string::npos && end + 1 < description.size() &&
           std::isspace(static_cast<unsigned char>(description[end + 1])) == 0) {
      end = description.find('.', end + 1);  // that of a name
    }
    out += entry(command->get_name(), description.substr(0, end));
  }
  return out;
}

std::string HelpFormatter::options(const CLI::App& app) const {
  std::string out;
  for (const std::string& group : app.get_groups()) {
    const auto members = app.get_options(
        [&](const CLI::Option* option) { return option->get_group() == group && !group.empty(); });
    if (members.empty()) continue;
    out += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : members) {
      out += entry(left_side(*option), option->get_description());
    }
  }
  return out;
}

std::string HelpFormatter::entry(const std::string& left, const std::string& right) const {
  std::string out = "  " + left;
  bool first = display_width(out) < kLeftColumn;
  if (!first) out += "\n";
  for (const std::string& line : wrap(right, columns_ - kLeftColumn)) {
    const std::size_t used = first ? display_width(out) : 0;
    out += std::string(kLeftColumn - used, ' ') + line + "\n";
    first = false;
  }
  return out;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

}  // namespace paceline

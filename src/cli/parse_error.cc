#include "cli/parse_error.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/help.h"

namespace paceline {
namespace {

std::string more_about(const CLI::App& app) {
  return fmt::format(" (see '{} --help')", full_name(app));
}

// Without the program's name, which begins every message.
std::string command_name(const CLI::App& app) {
  const std::string name = full_name(app);
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

// The parser's error names what is missing only in its text.
std::string missing_word(const std::string& text, const CLI::App& app) {
  const std::string name = text.substr(0, text.find(' '));
  const CLI::Option* option = app.get_option_no_throw(name);
  const std::string what = option == nullptr ? "" : ": " + option->get_description();
  return fmt::format("{} needs {}{}", command_name(app), name, what);
}

}  // namespace

std::string missing_value(const CLI::Option& option, const CLI::App& app) {
  const std::string name = option.get_name();
  const std::string& value = option.get_option_text();
  return fmt::format("{} needs a value: {} {}{}", name, name, value.empty() ? "VALUE" : value,
                     more_about(app));
}

std::string parse_error_sentence(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return missing_word(error.what(), app) + more_about(app);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return fmt::format("{} has no use for '{}'{}", command_name(app), join(app.remaining(), "', '"),
                       more_about(app));
  }
  return error.what() + more_about(app);
}

}  // namespace paceline

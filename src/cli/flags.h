// Settings as command-line flags.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <span>
#include <string>

namespace paceline {

// Gives `app` one flag per setting; what the user writes goes to `given` by key. Values
// are checked later, together with the recipe's (see resolve.h).
void add_setting_flags(CLI::App& app, std::map<std::string, std::string>& given);

// Refuses words that CLI11 would take for something else, with a suggestion: an unknown
// command, an unknown option, whose value would pass for the recipe, an option in the place
// of another's value, a value that a switch cannot have.
void check_words(const CLI::App& root, std::span<const std::string> words);

}  // namespace paceline

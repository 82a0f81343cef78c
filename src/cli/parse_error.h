// What is wrong with a command line, in our own words and with what to do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace paceline {

// "--batch needs a value: --batch N (see …)"; `option` is one of `app`.
std::string missing_value(const CLI::Option& option, const CLI::App& app);

// For what the parser complains about; `app` is the command that was being read.
std::string parse_error_sentence(const CLI::ParseError& error, const CLI::App& app);

}  // namespace paceline

// From the words of a command line to what they ask for, and to its being done.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "cli/actions.h"
#include "cli/options.h"
#include "config/environment.h"

namespace paceline {

inline constexpr const char* kVersion = PACELINE_VERSION;

// `arguments` are those after the program's name. Reads recipes, starts nothing. Throws
// ConfigError for anything that is not understood.
ParsedCommand parse_command_line(std::span<const std::string> arguments,
                                 const Environment& environment);

// What a command works with.
struct Session {
  const Environment& environment;
  const Actions& actions;
  std::ostream& out;
  std::ostream& err;
};
void run_command(const ParsedCommand& command, const Session& session);

}  // namespace paceline

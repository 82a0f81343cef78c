// The one binary: every command and every role of a run.

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command_line.h"

namespace {

int fail(const std::string& message, paceline::ExitCode code) {
  std::cout.flush();
  std::cerr << "paceline: " << message << std::endl;
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const paceline::Environment environment = paceline::current_environment();
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const paceline::ParsedCommand command = paceline::parse_command_line(arguments, environment);
    const paceline::Actions actions = paceline::make_actions();
    paceline::run_command(command, {environment, actions, std::cout, std::cerr});
    std::cout.flush();
    return std::cout ? 0 : fail("cannot write to standard output", paceline::ExitCode::kData);
  } catch (const paceline::Error& error) {
    return fail(error.what(), error.code());
  } catch (const std::exception& error) {
    return fail(std::string("unexpected: ") + error.what(), paceline::ExitCode::kInternal);
  }
}

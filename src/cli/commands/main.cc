#include "cli/commands/main.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/denormals.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/commands/command_line.h"

namespace paceline {
namespace {

int fail(const Error& error) {
  std::cout.flush();
  const std::string_view words = error.what();
  // Of several processes that failed together one has the words.
  if (!words.empty()) std::cerr << "paceline: " << words << std::endl;
  return static_cast<int>(error.code());
}

// A standard descriptor that is closed would be handed out again, for a socket or a pipe of
// a run, and whoever writes a message would write into that.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", O_RDWR);  // gets the lowest that is free
  }
}

// Whether the output is a pipe that nobody reads any more.
bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

}  // namespace

int run_program(int argc, char** argv) {
  flush_denormals();
  fill_standard_descriptors();
  log_to_people();
  try {
    const Environment environment = current_environment();
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const ParsedCommand command = parse_command_line(arguments, environment);
    const Actions actions = make_actions();
    run_command(command, {environment, actions, std::cout, std::cerr});
    std::cout.flush();
    if (std::cout || reader_is_gone()) return 0;
    return fail(DataError("cannot write to standard output"));
  } catch (const std::exception&) {
    return fail(current_error());
  }
}

}  // namespace paceline

#include <exception>
#include <functional>
#include <memory>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "session/failure.h"

namespace paceline {
namespace {

// What is thrown is told to whoever has started this process, before `main` tells it to people.
void tell_if_it_fails(int fd, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception&) {
    if (fd >= 0) tell_failure(fd, failure_line(current_error()));
    throw;
  }
}

}  // namespace

void add_role_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command =
      *root.add_subcommand("role", "One process of a run, started by its launcher.");
  command.group("");
  command.footer("'paceline train' starts the roles of a run; nobody else needs to.\n");
  auto options = std::make_shared<RoleOptions>();
  command.add_option("NAME", options->name, "e.g. server0")->required();
  command.add_option("--spec-fd", options->spec_fd, "descriptor to read from what it is to do")
      ->option_text("N")
      ->required();
  command.add_option("--announce-fd", options->announce_fd, "descriptor to write the address to")
      ->option_text("N");
  command.add_option("--failure-fd", options->failure_fd, "descriptor to write to why it fails")
      ->option_text("N");
  command.final_callback([options, context] { context.parsed = *options; });
}

void run(const RoleOptions& options, const Session& session) {
  tell_if_it_fails(options.failure_fd, [&] { session.actions.role(options); });
}

}  // namespace paceline

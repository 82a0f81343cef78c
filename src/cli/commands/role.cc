#include <exception>
#include <functional>
#include <memory>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "config/recipe.h"
#include "config/setting.h"
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

void check_and_read(RoleOptions& options) {
  parse_choice(options.role, {"chief", "server", "worker", "evaluator"});
  if (options.role != "chief" && options.chief.empty()) {
    throw ConfigError("role {} needs --chief ADDRESS", options.role);
  }
  options.run = read_config(options.config);
  if (!options.listen.empty()) options.run.listen = options.listen;
}

}  // namespace

void add_role_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command =
      *root.add_subcommand("role", "One process of a run, started by its launcher.");
  command.group("");
  command.footer("'paceline train' starts the roles of a run; nobody else needs to.\n");
  auto options = std::make_shared<RoleOptions>();
  command.add_option("ROLE", options->role, "chief, server, worker or evaluator")->required();
  command.add_option("--config", options->config, "config.toml of the run")
      ->option_text("FILE")
      ->required();
  command.add_option("--name", options->name, "e.g. server0")->option_text("NAME")->required();
  command.add_option("--chief", options->chief, "address of the chief")->option_text("ADDRESS");
  command.add_option("--listen", options->listen, "address to bind to [that of the config]")
      ->option_text("ADDRESS");
  command.add_option("--announce-fd", options->announce_fd, "descriptor to write the address to")
      ->option_text("N");
  command.add_option("--failure-fd", options->failure_fd, "descriptor to write to why it fails")
      ->option_text("N");
  command.final_callback([options, context] {
    tell_if_it_fails(options->failure_fd, [&] { check_and_read(*options); });
    context.parsed = *options;
  });
}

void run(const RoleOptions& options, const Session& session) {
  tell_if_it_fails(options.failure_fd, [&] { session.actions.role(options); });
}

}  // namespace paceline

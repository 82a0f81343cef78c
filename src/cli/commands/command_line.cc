#include "cli/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <variant>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/parse_error.h"

namespace paceline {
namespace {

constexpr const char* kRootFooter = R"(Examples:
  paceline train mnist
  paceline train mnist --workers 4 --mode async --epochs 3
  paceline evaluate runs/mnist-20240131-120000

Exit codes:
  0    all went well
  1    an internal error
  2    the command line or a recipe is wrong
  3    a file is missing, damaged or cannot be written
  4    a process of the run is gone, silent or refuses
  5    the run does not fit in memory
  6    the training diverged: NaN or infinity
  130  interrupted; what was learned is saved

'paceline COMMAND --help' says more about a command.
)";

// The command that was named, as deep as it goes.
const CLI::App& chosen(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen(*parsed.front());
}

void build(CLI::App& root, const CommandContext& context) {
  root.name("paceline");
  root.formatter(std::make_shared<HelpFormatter>(context.environment.columns));
  root.set_help_flag("-h,--help", "show this help");
  root.set_version_flag("--version", fmt::format("paceline {}", kVersion), "show the version");
  root.footer(kRootFooter);
  // Of an option that is repeated the last counts: scripts add theirs behind others.
  root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  // A second one is a word like others: a figure, a file.
  root.require_subcommand(0, 1);
  add_train_command(root, context);
  add_evaluate_command(root, context);
  add_predict_command(root, context);
  add_export_command(root, context);
  add_inspect_command(root, context);
  add_data_command(root, context);
  add_prepare_command(root, context);
  add_bench_command(root, context);
  add_settings_command(root, context);
  add_role_command(root, context);
}

}  // namespace

ParsedCommand parse_command_line(std::span<const std::string> arguments,
                                 const Environment& environment) {
  std::optional<ParsedCommand> parsed;
  CLI::App root("Trains models on one or many machines with parameter servers.");
  build(root, {environment, parsed});
  check_words(root, arguments);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return ShowText{chosen(root).help()};
  } catch (const CLI::CallForVersion& version) {
    return ShowText{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw ConfigError("{}", parse_error_sentence(error, chosen(root)));
  }
  return parsed ? *parsed : ShowText{chosen(root).help()};
}

void run_command(const ParsedCommand& command, const Session& session) {
  std::visit([&](const auto& options) { run(options, session); }, command);
}

}  // namespace paceline

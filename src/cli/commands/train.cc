#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "cli/format.h"
#include "config/recipe.h"
#include "config/resolve.h"
#include "config/run_dir.h"

namespace paceline {
namespace {

constexpr const char* kTrainExamples = R"(Examples:
  paceline train mnist
  paceline train mnist --workers 3 --servers 2 --batch 200 --rate 1.0
  paceline train fashion-mnist --mode ssp --staleness 4 --run-dir runs/ssp
  paceline train --resume runs/ssp --epochs 20 --workers 4
  paceline train runs/ssp/config.toml --run-dir runs/again
  paceline train mnist --json | jq 'select(.type == "epoch") | .test_accuracy'

Exit codes are those of 'paceline --help'; docs/metrics.md has the fields of
--json and of the files in the run directory.
)";

// What the command line holds besides settings, until the recipe has been read.
struct TrainWords {
  ConfigSources sources;
  TrainOptions options;
};

ConsoleOptions console_options(const TrainOptions& options, const Environment& environment) {
  ConsoleOptions console;
  console.mode = options.json           ? ConsoleMode::kJson
                 : environment.terminal ? ConsoleMode::kTerminal
                                        : ConsoleMode::kPlain;
  console.quiet = options.quiet;
  console.color = environment.color;
  console.columns = environment.columns;
  return console;
}

void dry_run(const TrainOptions& options, const Session& session) {
  const std::string config = config_toml(options.config);
  nlohmann::json estimate;
  try {
    estimate = session.actions.estimate(options.config);
  } catch (const DataError& error) {  // it is fetched when the run starts
    estimate = {{"unknown", error.what()}};
  }
  if (options.json) {
    session.out << nlohmann::json{{"type", "dry-run"}, {"config", config}, {"estimate", estimate}}
                << "\n";
  } else {
    session.out << config << "\n# This run would need\n"
                << format_object(estimate, session.environment.columns);
  }
}

}  // namespace

void add_train_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "train",
      "Trains a model as a recipe says. Flags override the recipe, the recipe overrides the "
      "defaults in brackets. The run leaves a directory with its configuration, metrics, "
      "summary, checkpoints and logs.");
  command.footer(kTrainExamples);
  auto words = std::make_shared<TrainWords>();
  command.add_option("RECIPE", words->sources.recipe,
                     fmt::format("name or path of a recipe: {}",
                                 join(recipe_names(context.environment.recipes), ", ")));
  command.add_flag("--json", words->options.json, "one JSON object per line");
  command.add_flag("--quiet", words->options.quiet, "only warnings and the summary");
  command.add_flag("--dry-run", words->options.dry_run,
                   "show the configuration and what the run needs, start nothing");
  command.add_flag("--ideal", words->options.ideal,
                   "measure what one worker computes without input and exchange: the ceiling");
  add_setting_flags(command, words->sources.flags);
  command.final_callback([words, context] {
    if (words->sources.recipe.empty() && words->sources.flags.empty()) {
      throw ConfigError("train what? Name a recipe: {}",
                        join(recipe_names(context.environment.recipes), ", "));
    }
    words->options.config = resolve(words->sources, context.environment,
                                    words->options.dry_run ? Purpose::kEstimate : Purpose::kRun);
    words->options.claims_run_dir =
        !words->sources.flags.contains("run-dir") && !words->sources.flags.contains("resume");
    context.parsed = words->options;
  });
}

void run(const TrainOptions& options, const Session& session) {
  if (options.dry_run) return dry_run(options, session);
  Console console(session.out, session.err, console_options(options, session.environment));
  if (options.ideal) {
    const nlohmann::json ideal = session.actions.ideal(options.config, console);
    session.out << (options.json ? ideal.dump() + "\n"
                                 : format_object(ideal, session.environment.columns));
    return;
  }
  RunConfig config = options.config;
  std::optional<ClaimedRunDir> claimed;
  if (options.claims_run_dir) {
    config.run_dir = claimed.emplace(config.recipe, session.environment.now).path();
  }
  session.actions.train(config, console);
  if (!session.out) {
    session.err << fmt::format("note: the output could not be written; the run is in {}\n",
                               config.run_dir.string());
  }
}

}  // namespace paceline

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/format.h"
#include "cli/recipe.h"
#include "cli/settings.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(Examples:
  paceline inspect mnist
  paceline inspect runs/mnist-20240131-120000 --json
)";

nlohmann::json config_object(const RunConfig& config) {
  nlohmann::json object;
  for (const Setting& setting : settings()) object[setting.key] = setting.format(config);
  return object;
}

// Nothing when the run has not come to its end yet.
nlohmann::json read_summary(const fs::path& run_dir) {
  const fs::path file = run_dir / "summary.json";
  if (!fs::exists(file)) return nullptr;
  try {
    return nlohmann::json::parse(read_text(file));
  } catch (const nlohmann::json::parse_error&) {
    throw DataError("{} is damaged: it is not JSON", file.string());
  }
}

// Tensors, servers and memory; or why that cannot be said.
nlohmann::json needs(const RunConfig& config, const Session& session) {
  try {
    return session.actions.estimate(config);
  } catch (const Error& error) {
    return {{"unknown", error.what()}};
  }
}

void inspect_recipe(const InspectOptions& options, const Session& session) {
  RunConfig config = read_recipe(find_recipe(options.target, session.environment.recipes));
  if (config.data.dir.empty()) config.data.dir = session.environment.cache_dir;
  const nlohmann::json model = needs(config, session);
  if (options.json) {
    session.out << nlohmann::json{{"config", config_object(config)}, {"needs", model}} << "\n";
  } else {
    session.out << config_toml(config) << "\n# What it needs\n" << format_object(model);
  }
}

void inspect_run(const fs::path& run_dir, bool json, const Session& session) {
  const RunConfig config = read_config(run_dir / "config.toml");
  const nlohmann::json summary = read_summary(run_dir);
  const nlohmann::json checkpoints = session.actions.checkpoints(run_dir);
  const nlohmann::json model = needs(config, session);
  if (json) {
    session.out << nlohmann::json{{"config", config_object(config)},
                                  {"needs", model},
                                  {"summary", summary},
                                  {"checkpoints", checkpoints}}
                << "\n";
    return;
  }
  session.out << config_toml(config) << "\n# What it needs\n"
              << format_object(model) << "\n# Summary\n"
              << (summary.is_null() ? "  none: the run has not come to its end\n"
                                    : format_object(summary))
              << "\n# Checkpoints\n"
              << (checkpoints.empty() ? "  none\n" : format_object({{"checkpoints", checkpoints}}));
}

}  // namespace

void add_inspect_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "inspect",
      "Shows what a run or a recipe consists of: all settings, tensors, bytes per server "
      "and memory per role; of a run directory also its summary and checkpoints.");
  command.footer(kExamples);
  auto options = options_of<InspectOptions>(command, context);
  command.add_option("RUN", options->target, "run directory, or name or path of a recipe")
      ->required();
  command.add_flag("--json", options->json, "one JSON object");
}

void run(const InspectOptions& options, const Session& session) {
  if (fs::is_directory(options.target)) {
    if (!fs::exists(fs::path(options.target) / "config.toml")) {
      throw DataError("{} is not a run directory: it has no config.toml", options.target);
    }
    inspect_run(options.target, options.json, session);
  } else {
    inspect_recipe(options, session);
  }
}

}  // namespace paceline

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text.h"
#include "cli/checkpoints.h"
#include "cli/commands/commands.h"
#include "cli/format.h"
#include "cli/summary.h"
#include "config/recipe.h"
#include "config/resolve.h"
#include "config/settings.h"
#include "observe/summary_file.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInspectExamples = R"(Examples:
  paceline inspect mnist
  paceline inspect runs/mnist-20240131-120000 --json
  paceline inspect runs/mnist-20240131-120000/checkpoints/step-0000006000.ckpt
  paceline train mnist --workers 4 --dry-run    # a recipe with other settings
)";

constexpr std::size_t kShortDigest = 16;  // digits: enough to tell checkpoints apart

nlohmann::json config_object(const RunConfig& config) {
  nlohmann::json object;
  for (const Setting& setting : settings()) object[setting.key] = setting.format(config);
  return object;
}

// Tensors, servers and memory; or why that cannot be said.
nlohmann::json needs(const RunConfig& config, const Session& session) {
  try {
    return session.actions.estimate(config);
  } catch (const DataError& error) {
    return {{"unknown", error.what()}};
  } catch (const fs::filesystem_error& error) {
    return {{"unknown", fmt::format("{}: {}", error.path1().string(), error.code().message())}};
  }
}

void inspect_recipe(const InspectOptions& options, const Session& session) {
  RunConfig config = read_recipe(find_recipe(options.target, session.environment.recipes));
  choose_data_dir(config.data, session.environment);
  validate(config, Purpose::kEstimate);
  const nlohmann::json model = needs(config, session);
  if (options.json) {
    session.out << nlohmann::json{{"config", config_object(config)}, {"needs", model}} << "\n";
  } else {
    session.out << config_toml(config) << "\n# What it needs\n"
                << format_object(model, session.environment.columns);
  }
}

// What tells the checkpoints of one run apart.
std::string checkpoint_table(const nlohmann::json& checkpoints, int columns) {
  if (checkpoints.empty()) return "  none\n";
  std::vector<std::vector<std::string>> rows = {
      {"name", "epoch", "version", "examples", "optimizer", "digest"}};
  for (const auto& checkpoint : checkpoints) {
    std::vector<std::string> row;
    for (const std::string& key : rows[0]) {
      row.push_back(checkpoint.contains(key) ? format_value(key, checkpoint[key]) : "–");
    }
    row.back() = checkpoint.contains("damage") ? "damaged" : row.back().substr(0, kShortDigest);
    rows.push_back(std::move(row));
  }
  return format_table(rows, columns);
}

void refuse_damage(const nlohmann::json& checkpoints) {
  std::vector<std::string> sentences;
  for (const auto& checkpoint : checkpoints) {
    if (checkpoint.contains("damage")) sentences.push_back(checkpoint["damage"]);
  }
  if (!sentences.empty()) throw DataError("{}", join(sentences, "\n"));
}

void inspect_run(const fs::path& run_dir, bool json, const Session& session) {
  const RunConfig config = read_config(run_dir / "config.toml");
  const nlohmann::json summary = read_summary(run_dir);
  const nlohmann::json shown = summary.is_null() ? summary : readable_summary(summary);
  const nlohmann::json checkpoints = describe_checkpoints(run_dir);
  const nlohmann::json model = needs(config, session);
  const int columns = session.environment.columns;
  if (json) {
    session.out << nlohmann::json{{"config", config_object(config)},
                                  {"needs", model},
                                  {"summary", summary},
                                  {"checkpoints", checkpoints}}
                << "\n";
  } else {
    session.out << config_toml(config) << "\n# What it needs\n"
                << format_object(model, columns) << "\n# Summary\n"
                << (summary.is_null() ? "  none: the run has not come to its end\n"
                                      : format_object(shown, columns))
                << "\n# Checkpoints\n"
                << checkpoint_table(checkpoints, columns);
  }
  refuse_damage(checkpoints);
}

void inspect_checkpoint(const fs::path& file, bool json, const Session& session) {
  nlohmann::json checkpoint = describe_checkpoint(file);
  if (json) {
    session.out << checkpoint << "\n";
  } else {
    checkpoint.erase("name");  // the file's path ends with it
    session.out << format_object(checkpoint, session.environment.columns);
  }
}

}  // namespace

void add_inspect_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "inspect",
      "Shows what is in a run, a recipe or a checkpoint. Of a recipe: all settings, tensors, "
      "bytes per server and memory per role; of a run directory also its summary and "
      "checkpoints. Of a checkpoint: how far it is trained and a digest of its parameters; two "
      "with the same digest are the same, bit by bit.");
  command.footer(kInspectExamples);
  auto options = options_of<InspectOptions>(command, context);
  command
      .add_option("TARGET", options->target,
                  "run directory, checkpoint, or name or path of a recipe")
      ->required();
  command.add_flag("--json", options->json, "one JSON object");
}

void run(const InspectOptions& options, const Session& session) {
  if (fs::is_directory(options.target)) {
    if (!fs::exists(fs::path(options.target) / "config.toml")) {
      throw DataError("{} is not a run directory: it has no config.toml", options.target);
    }
    inspect_run(options.target, options.json, session);
  } else if (looks_like_checkpoint(options.target)) {
    inspect_checkpoint(options.target, options.json, session);
  } else {
    inspect_recipe(options, session);
  }
}

}  // namespace paceline

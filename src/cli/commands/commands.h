// The commands, one per file: add_…() describes a command to the parser, run() does it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/commands/command_line.h"

namespace paceline {

struct CommandContext {
  const Environment& environment;
  std::optional<ParsedCommand>& parsed;  // filled by the command that was named
};

void add_train_command(CLI::App& root, const CommandContext& context);
void add_evaluate_command(CLI::App& root, const CommandContext& context);
void add_predict_command(CLI::App& root, const CommandContext& context);
void add_export_command(CLI::App& root, const CommandContext& context);
void add_inspect_command(CLI::App& root, const CommandContext& context);
void add_data_command(CLI::App& root, const CommandContext& context);
void add_data_clean_command(CLI::App& data, const CommandContext& context);
void add_prepare_command(CLI::App& root, const CommandContext& context);
void add_bench_command(CLI::App& root, const CommandContext& context);
void add_settings_command(CLI::App& root, const CommandContext& context);
void add_role_command(CLI::App& root, const CommandContext& context);

void run(const ShowText& options, const Session& session);
void run(const TrainOptions& options, const Session& session);
void run(const EvaluateCommand& options, const Session& session);
void run(const PredictOptions& options, const Session& session);
void run(const ExportOptions& options, const Session& session);
void run(const InspectOptions& options, const Session& session);
void run(const DataGetOptions& options, const Session& session);
void run(const DataListOptions& options, const Session& session);
void run(const DataCleanOptions& options, const Session& session);
void run(const PrepareReviewsOptions& options, const Session& session);
void run(const BenchOptions& options, const Session& session);
void run(const SettingsOptions& options, const Session& session);
void run(const RoleOptions& options, const Session& session);

// The options of a command live as long as its parser: `command` keeps them alive through
// its callback, which hands them over when the whole line has been read.
template <typename Options>
std::shared_ptr<Options> options_of(CLI::App& command, const CommandContext& context) {
  auto options = std::make_shared<Options>();
  command.final_callback([options, &parsed = context.parsed] { parsed = *options; });
  return options;
}

}  // namespace paceline

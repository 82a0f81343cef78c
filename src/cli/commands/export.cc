#include <memory>

#include "cli/commands/commands.h"

namespace paceline {
namespace {

constexpr const char* kExportExamples = R"(Examples:
  paceline export runs/alexnet-20240131-120000 alexnet.pt
  python3 -c 'import torch; print(torch.load("alexnet.pt").keys())'
)";

}  // namespace

void add_export_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "export",
      "Writes trained weights for Python: a dictionary of tensors by name, which torch.load "
      "reads and load_state_dict takes. Of models of sparse rows: a line for each weight that is "
      "not zero.");
  command.footer(kExportExamples);
  auto options = options_of<ExportOptions>(command, context);
  command
      .add_option("RUN", options->target, "run directory (its newest checkpoint) or a checkpoint")
      ->required();
  command.add_option("FILE", options->output, "where to write")->required();
}

void run(const ExportOptions& options, const Session& session) {
  session.actions.export_weights(options.target, options.output);
}

}  // namespace paceline

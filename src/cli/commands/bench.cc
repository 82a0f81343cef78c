#include <memory>

#include "cli/commands/commands.h"

namespace paceline {
namespace {

constexpr const char* kBenchExamples = R"(Examples:
  paceline bench
  paceline bench softmax mnist.vs_ddp
  paceline bench --json
)";

}  // namespace

void add_bench_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "bench",
      "Measures against peers and bare limits. Each figure is a line: name, value, unit, "
      "target, verdict (ok, short or skipped), and the absolute figures of both sides.");
  command.footer(kBenchExamples);
  auto options = options_of<BenchOptions>(command, context);
  options->data_dir = context.environment.cache_dir;
  command.add_option("NAME", options->names, "figures, or groups of them, to measure [all]");
  command
      .add_option("--data-dir", options->data_dir, "where datasets are kept [~/.cache/paceline]")
      ->option_text("PATH");
  command.add_flag("--list", options->list, "show the names of the figures, measure nothing");
  command.add_flag("--json", options->json, "one JSON object per line");
}

void run(const BenchOptions& options, const Session& session) {
  if (!options.list) require_data_dir(options.data_dir);
  session.actions.bench(options, session.out);
}

}  // namespace paceline

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "cli/format.h"

namespace paceline {
namespace {

constexpr const char* kEvaluateExamples = R"(Examples:
  paceline evaluate runs/mnist-20240131-120000
  paceline evaluate runs/mnist-20240131-120000 --data fashion-mnist --json
  paceline evaluate runs/clicks-20240131-120000 --test-file monday.svm
)";

}  // namespace

void add_evaluate_command(CLI::App& root, const CommandContext& context) {
  CLI::App& command = *root.add_subcommand(
      "evaluate",
      "Tests a trained model. It prints the loss and the accuracy on the test examples; of a model "
      "that predicts numbers, the root mean squared error.");
  command.footer(kEvaluateExamples);
  auto options = options_of<EvaluateOptions>(command, context);
  command
      .add_option("RUN", options->target, "run directory (its newest checkpoint) or a checkpoint")
      ->required();
  command.add_option("--data", options->data, "test on another dataset [that of the run]")
      ->option_text("NAME");
  command.add_option("--data-dir", options->data_dir, "where datasets are kept [that of the run]")
      ->option_text("PATH");
  command
      .add_option("--test-file", options->test_file,
                  "of sparse rows: test on another file, folder or pattern of the same format "
                  "[that of the run]")
      ->option_text("PATH");
  command.add_flag("--json", options->json, "one JSON object");
}

void run(const EvaluateOptions& options, const Session& session) {
  const Evaluation result = session.actions.evaluate(options);
  nlohmann::json object = {{"checkpoint", result.checkpoint},
                           {"data", result.data},
                           {"examples", result.examples},
                           {"loss", result.loss}};
  if (result.accuracy) object["accuracy"] = *result.accuracy;
  if (result.rmse) object["rmse"] = *result.rmse;
  if (result.auc) object["auc"] = *result.auc;
  if (result.bad_lines > 0) object["bad_lines"] = result.bad_lines;
  if (options.json) {
    session.out << object << "\n";
  } else {
    session.out << format_object(object, session.environment.columns);
  }
  if (!std::isfinite(result.loss)) throw DivergedError("the loss of " + result.checkpoint);
}

}  // namespace paceline

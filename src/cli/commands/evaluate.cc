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
  auto options = options_of<EvaluateCommand>(command, context);
  command
      .add_option("RUN", options->evaluate.target,
                  "run directory (its newest checkpoint) or a checkpoint")
      ->required();
  command.add_option("--data", options->evaluate.data, "test on another dataset [that of the run]")
      ->option_text("NAME");
  command
      .add_option("--data-dir", options->evaluate.data_dir,
                  "where datasets are kept [that of the run]")
      ->option_text("PATH");
  command
      .add_option("--test-file", options->evaluate.test_file,
                  "of sparse rows: test on another file, folder or pattern of the same format "
                  "[that of the run]")
      ->option_text("PATH");
  command.add_flag("--json", options->json, "one JSON object");
}

void run(const EvaluateCommand& options, const Session& session) {
  const Evaluation result = session.actions.evaluate(options.evaluate);
  const Metrics& metrics = result.metrics;
  nlohmann::json object = {{"checkpoint", result.checkpoint},
                           {"data", result.data},
                           {"examples", metrics.loss.examples},
                           {"loss", metrics.loss.mean()}};
  if (metrics.accuracy) object["accuracy"] = *metrics.accuracy;
  if (metrics.rmse) object["rmse"] = *metrics.rmse;
  if (metrics.auc) object["auc"] = *metrics.auc;
  if (result.bad_lines > 0) object["bad_lines"] = result.bad_lines;
  if (options.json) {
    session.out << object << "\n";
  } else {
    session.out << format_object(object, session.environment.columns);
  }
  if (!std::isfinite(metrics.loss.mean())) throw DivergedError("the loss of " + result.checkpoint);
}

}  // namespace paceline

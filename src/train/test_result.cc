#include "train/test_result.h"

#include <vector>

#include "optim/rows/learn_rows.h"
#include "train/loop.h"
#include "train/rows.h"

namespace paceline {
namespace {

TestResult measured(const Loss& loss, bool numbers, bool two_classes) {
  TestResult result{loss};
  if (numbers) {
    result.rmse = root_mean_squared_error(loss);
    return result;
  }
  result.accuracy = loss.accuracy();
  if (two_classes) result.f1 = loss.f1();
  return result;
}

// The area under the curve needs the score of each row.
TestResult test_rows(SparseLinear::Kind kind, const Dataset& tests, std::span<const float> weights,
                     Activity* activity) {
  std::vector<float> scores;
  std::vector<float> labels;
  for_each_batch(
      tests,
      [&](const Batch& batch) {
        for (const std::uint8_t* words : batch.rows) {
          const RowView row = row_at(reinterpret_cast<const std::uint32_t*>(words));
          scores.push_back(score_of(row, weights));
          labels.push_back(row.label);
        }
      },
      activity);
  return test_result(kind, scores, labels);
}

}  // namespace

TestResult test_result(SparseLinear::Kind kind, std::span<const float> scores,
                       std::span<const float> labels) {
  Loss loss;
  for (std::size_t i = 0; i < scores.size(); ++i) count_loss(kind, scores[i], labels[i], loss);
  const bool numbers = kind == SparseLinear::Kind::kRegression;
  TestResult result = measured(loss, numbers, true);
  if (!numbers) result.auc = area_under_curve(scores, labels);
  return result;
}

TestResult test_model(const ModelOptions& options, Model& model, const Dataset& tests,
                      std::span<const float> parameters, Activity* activity) {
  if (tests.info().row_bits > 0) return test_rows(kind_of(options), tests, parameters, activity);
  return measured(evaluate_dataset(model, tests, parameters, activity), predicts_numbers(options),
                  tests.info().classes == 2);
}

wire::Evaluated evaluated_of(std::uint64_t version, std::uint64_t epoch, const TestResult& result) {
  wire::Evaluated evaluated;
  evaluated.set_version(version);
  evaluated.set_epoch(epoch);
  evaluated.set_loss(result.loss.mean());
  evaluated.set_examples(result.loss.examples);
  if (result.accuracy) evaluated.set_accuracy(*result.accuracy);
  if (result.f1) evaluated.set_f1(*result.f1);
  if (result.auc) evaluated.set_auc(*result.auc);
  if (result.rmse) evaluated.set_rmse(*result.rmse);
  return evaluated;
}

}  // namespace paceline

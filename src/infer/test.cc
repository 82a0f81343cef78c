#include "infer/test.h"

#include <vector>

#include "infer/batches.h"

namespace paceline {
namespace {

// The area under the curve needs the score of each row.
Metrics test_rows(SparseLinear::Kind kind, const Dataset& tests, std::span<const float> weights,
                  Activity* activity, const std::atomic<bool>* stop) {
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
      activity, stop);
  return test_scores(kind, scores, labels);
}

}  // namespace

Metrics test_model(const ModelOptions& options, Model& model, const Dataset& tests,
                   std::span<const float> parameters, Activity* activity,
                   const std::atomic<bool>* stop) {
  if (tests.info().row_bits > 0) {
    return test_rows(kind_of(options), tests, parameters, activity, stop);
  }
  Loss loss;
  for_each_batch(
      tests, [&](const Batch& batch) { loss += model.evaluate(batch, parameters); }, activity,
      stop);
  if (predicts_numbers(options)) return number_metrics(loss);
  return class_metrics(loss, tests.info().classes == 2);
}

Metrics test_scores(SparseLinear::Kind kind, std::span<const float> scores,
                    std::span<const float> labels) {
  ScoreLoss all(kind);
  for (std::size_t i = 0; i < scores.size(); ++i) all.add(scores[i], labels[i]);
  const Loss loss = all.loss();
  if (kind == SparseLinear::Kind::kRegression) return number_metrics(loss);
  Metrics metrics = class_metrics(loss, true);
  metrics.auc = area_under_curve(scores, labels);
  return metrics;
}

}  // namespace paceline

#include "train/row_tests.h"

namespace paceline {

RowRule rule_of(const RunConfig& config) {
  RowRule rule;
  rule.kind = config.optimizer.kind;
  rule.loss = config.model.name == "regression" ? SparseLinear::Kind::kRegression
                                                : SparseLinear::Kind::kLogistic;
  rule.rate = static_cast<float>(config.schedule.rate);
  rule.l1 = static_cast<float>(config.optimizer.l1);
  rule.l2 = static_cast<float>(config.optimizer.decay);
  rule.epsilon = static_cast<float>(config.optimizer.epsilon);
  rule.beta = static_cast<float>(config.optimizer.beta);
  return rule;
}

std::vector<float> labels_of(const RowCache& rows) {
  std::vector<float> labels(rows.info().rows);
  for (std::uint64_t i = 0; i < labels.size(); ++i) labels[i] = row_at(rows.row(i)).label;
  return labels;
}

TestResult test_result(SparseLinear::Kind kind, std::span<const float> scores,
                       std::span<const float> labels) {
  TestResult tested;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    count_loss(kind, scores[i], labels[i], tested.loss);
  }
  tested.two_classes = kind == SparseLinear::Kind::kLogistic;
  if (tested.two_classes) tested.auc = area_under_curve(scores, labels);
  return tested;
}

}  // namespace paceline

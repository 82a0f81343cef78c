#include "model/linear/sparse_linear.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace paceline {
namespace {

RowView row_of(const Batch& batch, std::size_t i) {
  return row_at(reinterpret_cast<const std::uint32_t*>(batch.rows[i]));
}

}  // namespace

SparseLinear::Kind kind_of(const ModelOptions& model) {
  return predicts_numbers(model) ? SparseLinear::Kind::kRegression : SparseLinear::Kind::kLogistic;
}

float score_of(const RowView& row, std::span<const float> weights) {
  float score = 0;
  for (std::size_t k = 0; k < row.keys.size(); ++k) score += row.value(k) * weights[row.keys[k]];
  return score;
}

float probability_of(float score) {
  return 1 / (1 + std::exp(-score));
}

void count_loss(SparseLinear::Kind kind, float score, float label, Loss& into) {
  into.weight += 1;
  ++into.examples;
  if (kind == SparseLinear::Kind::kRegression) {
    const double error = static_cast<double>(score) - static_cast<double>(label);
    into.sum += error * error / 2;
    return;
  }
  ++into.predictions;
  const bool positive = label > 0;
  const bool found = score > 0;
  const float size = std::abs(score);
  into.sum += std::log1p(std::exp(-size)) + (found == positive ? 0 : size);
  into.correct += found == positive ? 1 : 0;
  into.positives.right += found && positive ? 1 : 0;
  into.positives.found += found ? 1 : 0;
  into.positives.there += positive ? 1 : 0;
}

float slope_of(SparseLinear::Kind kind, float score, float label) {
  return (kind == SparseLinear::Kind::kRegression ? score : probability_of(score)) - label;
}

SparseLinear::SparseLinear(Kind kind, const DatasetInfo& data) : kind_(kind) {
  if (data.row_bits == 0) {
    throw ConfigError("{} learns from sparse rows: use it with --data rows",
                      kind == Kind::kLogistic ? "logistic" : "regression");
  }
  layout_.size = (std::uint64_t{1} << data.row_bits) + 1;
  layout_.tensors.push_back({"weight", {layout_.size}, {0, layout_.size}, true});
}

void SparseLinear::initialize(std::uint64_t, std::span<float> parameters) const {
  std::fill(parameters.begin(), parameters.end(), 0.0F);
}

Loss SparseLinear::gradient(const Batch& batch, std::span<const float> parameters,
                            std::span<float> gradient, Flow& flow) {
  flow.await({0, parameters.size()});
  std::fill(gradient.begin(), gradient.end(), 0.0F);
  Loss loss;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const RowView row = row_of(batch, i);
    const float score = score_of(row, parameters);
    count_loss(kind_, score, row.label, loss);
    const float slope = slope_of(kind_, score, row.label);
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      gradient[row.keys[k]] += slope * row.value(k);
    }
  }
  flow.ready({0, gradient.size()});
  return loss;
}

Loss SparseLinear::evaluate(const Batch& batch, std::span<const float> parameters) {
  Loss loss;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const RowView row = row_of(batch, i);
    count_loss(kind_, score_of(row, parameters), row.label, loss);
  }
  return loss;
}

void SparseLinear::predict(const Batch& batch, std::span<const float> parameters,
                           std::span<float> probabilities) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const float positive = probability_of(score_of(row_of(batch, i), parameters));
    probabilities[2 * i] = 1 - positive;
    probabilities[2 * i + 1] = positive;
  }
}

}  // namespace paceline

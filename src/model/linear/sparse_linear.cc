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

Loss ScoreLoss::loss() const {
  Loss loss = loss_;
  loss.sum += std::log(product_);
  loss.weight = static_cast<double>(loss.examples);
  if (kind_ == SparseLinear::Kind::kLogistic) loss.predictions = loss.examples;
  return loss;
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
  ScoreLoss loss(kind_);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const RowView row = row_of(batch, i);
    const float slope = loss.add(score_of(row, parameters), row.label);
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      gradient[row.keys[k]] += slope * row.value(k);
    }
  }
  flow.ready({0, gradient.size()});
  return loss.loss();
}

Loss SparseLinear::evaluate(const Batch& batch, std::span<const float> parameters) {
  ScoreLoss loss(kind_);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const RowView row = row_of(batch, i);
    loss.add(score_of(row, parameters), row.label);
  }
  return loss.loss();
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

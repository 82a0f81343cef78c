// Logistic and linear regression on sparse rows: score = the sum of value · weight over a row's
// keys, of which one is the constant feature.
//
// One tensor, "weight" [2^bits + 1], a table that starts at zero. Here a gradient is a whole
// vector, as for any other model; runs that need speed go row by row (optim/rows/).
#pragma once

#include "data/sparse/row.h"
#include "model/model.h"
#include "model/options.h"

namespace paceline {

class SparseLinear final : public Model {
 public:
  enum class Kind { kLogistic, kRegression };
  SparseLinear(Kind kind, const DatasetInfo& data);  // throws ConfigError unless it is of rows

  const Layout& layout() const override { return layout_; }
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  void predict(const Batch& batch, std::span<const float> parameters,
               std::span<float> probabilities) override;

 private:
  Kind kind_;
  Layout layout_;
};

SparseLinear::Kind kind_of(const ModelOptions& model);

float score_of(const RowView& row, std::span<const float> weights);
// What a score costs, and the slope of that; of classes, the probability that it stands for.
void count_loss(SparseLinear::Kind kind, float score, float label, Loss& into);
float slope_of(SparseLinear::Kind kind, float score, float label);
float probability_of(float score);
}  // namespace paceline

// Logistic and linear regression on sparse rows: score = the sum of value · weight over a row's
// keys, of which one is the constant feature.
//
// One tensor, "weight" [2^bits + 1], a table that starts at zero. Here a gradient is a whole
// vector, as for any other model; runs that need speed go row by row (optim/rows/).
#pragma once

#include <cmath>
#include <utility>

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
float probability_of(float score);  // of the positive class

// Adds up the losses of examples, given their scores.
class ScoreLoss {
 public:
  explicit ScoreLoss(SparseLinear::Kind kind) : kind_(kind) {}

  float add(float score, float label);  // returns the derivative of its loss by the score
  Loss loss() const;                    // the sum so far

 private:
  // As many factors of at most 2 as a double has room for.
  static constexpr std::uint64_t kFactors = 1000;

  SparseLinear::Kind kind_;
  Loss loss_;
  double product_ = 1;  // the sum lacks its logarithm: one call of log serves many examples
};

inline float ScoreLoss::add(float score, float label) {
  if (++loss_.examples % kFactors == 0) loss_.sum += std::log(std::exchange(product_, 1.0));
  if (kind_ == SparseLinear::Kind::kRegression) {
    const double error = static_cast<double>(score) - static_cast<double>(label);
    loss_.sum += error * error / 2;
    return score - label;
  }
  const bool positive = label > 0;
  const bool found = score > 0;
  const float size = std::abs(score);
  const float odds = std::exp(-size);  // of what is less likely
  product_ *= 1 + static_cast<double>(odds);
  loss_.sum += static_cast<double>(found == positive ? 0 : size);
  loss_.correct += found == positive ? 1 : 0;
  loss_.positives.right += found && positive ? 1 : 0;
  loss_.positives.found += found ? 1 : 0;
  loss_.positives.there += positive ? 1 : 0;
  return (found ? 1 : odds) / (1 + odds) - label;
}

}  // namespace paceline

// Softmax regression on byte features: the largest of the classes' scale · W·x + b.
//
// The loss is the cross-entropy. Two tensors, "softmax.weight" [classes, width] and
// "softmax.bias" [classes]; both start at zero. Throws DataError when a label is not one
// of the classes or rows have another width than the model.
#pragma once

#include <array>
#include <cstddef>

#include "model/linear/kernels.h"
#include "model/linear/softmax_rows.h"
#include "model/model.h"

namespace paceline {

class SoftmaxRegression final : public Model {
 public:
  // `scale` turns a byte into a feature: x = scale · byte.
  SoftmaxRegression(std::size_t width, std::size_t classes, float scale = 1.0f / 255.0f);

  const Layout& layout() const override { return layout_; }
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  void predict(const Batch& batch, std::span<const float> parameters,
               std::span<float> probabilities) override;

 private:
  struct Pass;  // some rows of a batch, few enough for the scratch memory

  void check(const Batch& batch, std::span<const float> parameters) const;
  Pass pass(const Batch& batch, std::size_t first) const;
  // Probabilities into the scratch's outputs.
  Loss forward(const Pass& pass, std::span<const float> parameters);
  // Probabilities → errors, and their sum into the gradient of the bias.
  void errors(const Pass& pass, std::span<float> bias_gradient);

  float scale_;
  Layout layout_;
  LinearScratch scratch_;
  std::array<SoftmaxTerms, LinearScratch::kRowsPerPass> terms_;
};

}  // namespace paceline

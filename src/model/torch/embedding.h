// Token numbers → vectors: a table with one row per token.
#pragma once

#include "model/torch/layers.h"

namespace paceline {

class Embedding {
 public:
  // A tensor NAME.weight [tokens, width].
  Embedding(FlatTensors& tensors, const std::string& name, std::int64_t tokens, std::int64_t width);

  // Normal with a standard deviation of 1/√width; the row of padding is zero.
  void initialize(std::uint64_t seed, std::span<float> parameters) const;

  // [times, examples, width] for tokens [times, examples] of 64 bits.
  torch::Tensor forward(const torch::Tensor& tokens, const Pass& pass) const;

  // For the graph alone.
  torch::Tensor compute(const torch::Tensor& tokens, const Pass& pass) const;
  void backward(const torch::Tensor& error, const torch::Tensor& tokens, const Pass& pass) const;

 private:
  const FlatTensors& tensors_;
  std::size_t weight_;
  std::int64_t tokens_;
  std::int64_t width_;
};

}  // namespace paceline

// Layers that read their weights from the flat parameters when these have arrived, and
// write their gradients straight into the flat gradient, announcing each when it is final.
//
// libtorch's own layers add gradients to tensors that must be zeroed first: for the fully
// connected layers of AlexNet that is half a gigabyte of memory traffic per step. Here the
// product is formed where it belongs.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "model/options.h"
#include "model/torch/flat_tensors.h"

namespace paceline {

// One forward and backward pass. Lives until both are over.
struct Pass {
  const FlatTensors& tensors;
  const Batch& batch;
  Flow& flow;
  bool training = false;
  std::uint64_t seed = 0;
  Precision precision = Precision::kFloat;

  // As the factors of products are to be.
  torch::Tensor rounded(const torch::Tensor& tensor) const {
    return precision == Precision::kBf16 ? tensor.to(torch::kBFloat16) : tensor;
  }
};

// Weight and bias, as every layer here has them.
class Layer {
 public:
  // Uniform within ± 1/√fan_in, as libtorch does it; a function of the seed and the name.
  void initialize(std::uint64_t seed, std::span<float> parameters) const;

  const torch::Tensor& weight(const Pass& pass) const { return pass.tensors.value(weight_); }
  const torch::Tensor& bias(const Pass& pass) const { return pass.tensors.value(bias_); }
  void await(const Pass& pass) const;
  // Their gradients are written.
  void ready(const Pass& pass) const;

 protected:
  Layer(FlatTensors& tensors, const std::string& name, const std::vector<std::int64_t>& shape);

  const FlatTensors& tensors_;
  std::size_t weight_;
  std::size_t bias_;
  std::int64_t fan_in_;
};

class Convolution : public Layer {
 public:
  struct Shape {
    std::int64_t in, out, kernel, stride, padding;
  };
  Convolution(FlatTensors& tensors, const std::string& name, const Shape& shape);
  torch::Tensor forward(const torch::Tensor& input, const Pass& pass) const;
  torch::Tensor compute(const torch::Tensor& input, const Pass& pass) const;  // outside a graph
  // Of the input, when `wanted`; those of the parameters are written.
  torch::Tensor backward(const torch::Tensor& error, const torch::Tensor& input, bool wanted,
                         const Pass& pass) const;

 private:
  bool by_winograd(const torch::Tensor& input, const Pass& pass) const;

  Shape shape_;
};

// Brings groups of an image's channels to mean 0 and variance 1, then scales and shifts each
// channel. Unlike batch statistics, these are of one example alone.
class GroupNorm : public Layer {
 public:
  GroupNorm(FlatTensors& tensors, const std::string& name, std::int64_t channels,
            std::int64_t groups);
  void initialize(std::span<float> parameters) const;  // scales of 1, shifts of 0
  torch::Tensor forward(const torch::Tensor& input, const Pass& pass) const;
  torch::Tensor compute(const torch::Tensor& input, const Pass& pass) const;
  torch::Tensor backward(const torch::Tensor& error, const torch::Tensor& input, bool wanted,
                         const Pass& pass) const;

 private:
  std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> normalize(const torch::Tensor& input,
                                                                    const Pass& pass) const;
  std::int64_t groups_;
};

class Linear : public Layer {
 public:
  Linear(FlatTensors& tensors, const std::string& name, std::int64_t in, std::int64_t out);
  torch::Tensor forward(const torch::Tensor& input, const Pass& pass) const;
  torch::Tensor compute(const torch::Tensor& input, const Pass& pass) const;
  torch::Tensor backward(const torch::Tensor& error, const torch::Tensor& input, bool wanted,
                         const Pass& pass) const;
  Matrix matrix() const;  // its weight's
};

// For Model::multiply().
void multiply(const Matrix& matrix, const Factors& factors, std::span<float> gradient);

// Leaves out units and scales the others up; which, is a function of (seed, epoch, example,
// `layer`, unit), not of who computes. The input is [examples, units].
torch::Tensor dropout(const torch::Tensor& input, double rate, std::uint64_t layer,
                      const Pass& pass);

}  // namespace paceline

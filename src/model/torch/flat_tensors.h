// The tensors of a network as views into the flat vectors of parameters and gradients:
// nothing is packed or unpacked on the way in or out. Where the network is computed by another
// device, they are copies there.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace paceline {

class FlatTensors {
 public:
  // In the order in which the forward pass needs them. Returns the tensor's number.
  std::size_t add(const std::string& name, const std::vector<std::int64_t>& shape);
  std::size_t add_table(const std::string& name, std::int64_t rows, std::int64_t width);

  const Layout& layout() const { return layout_; }
  Range floats(std::size_t number) const { return layout_.tensors[number].floats; }

  // Copies on this device take the place of the views. Before the first bind().
  void keep_on(torch::Device device);
  torch::Device device() const { return device_; }

  // Views of these vectors until the next call. `gradient` may be empty.
  void bind(std::span<const float> parameters, std::span<float> gradient);

  const torch::Tensor& value(std::size_t number) const { return values_[number]; }
  const torch::Tensor& gradient(std::size_t number) const { return gradients_[number]; }

  // Brings copies up to date with a value that has arrived, and the vector up to date with a
  // gradient that was computed. Of views: nothing.
  void fetch(std::size_t number) const;
  void store(std::size_t number) const;

 private:
  void view(float* floats, std::vector<torch::Tensor>& views) const;
  void copy(const std::vector<torch::Tensor>& views, std::vector<torch::Tensor>& copies) const;

  Layout layout_;
  torch::Device device_ = torch::kCPU;
  bool copies_ = false;
  std::vector<torch::Tensor> value_views_;
  std::vector<torch::Tensor> gradient_views_;
  std::vector<torch::Tensor> values_;  // the views, or copies of them
  std::vector<torch::Tensor> gradients_;
  const float* bound_values_ = nullptr;
  float* bound_gradient_ = nullptr;
};

}  // namespace paceline

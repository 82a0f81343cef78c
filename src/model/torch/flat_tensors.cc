#include "model/torch/flat_tensors.h"

#include "base/error.h"

namespace paceline {

std::size_t FlatTensors::add(const std::string& name, const std::vector<std::int64_t>& shape) {
  std::uint64_t floats = 1;
  for (const std::int64_t length : shape) floats *= static_cast<std::uint64_t>(length);
  layout_.tensors.push_back(
      {name, {shape.begin(), shape.end()}, {layout_.size, layout_.size + floats}});
  layout_.size += floats;
  return layout_.tensors.size() - 1;
}

void FlatTensors::view(float* floats, std::vector<torch::Tensor>& views) const {
  views.clear();
  for (const Tensor& tensor : layout_.tensors) {
    const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
    views.push_back(torch::from_blob(floats + tensor.floats.begin, shape, torch::kFloat32));
  }
}

void FlatTensors::bind(std::span<const float> parameters, std::span<float> gradient) {
  PACELINE_CHECK(parameters.size() == layout_.size);
  PACELINE_CHECK(gradient.empty() || gradient.size() == layout_.size);
  if (parameters.data() != bound_values_) {
    view(const_cast<float*>(parameters.data()), values_);  // only ever read
    bound_values_ = parameters.data();
  }
  if (!gradient.empty() && gradient.data() != bound_gradient_) {
    view(gradient.data(), gradients_);
    bound_gradient_ = gradient.data();
  }
}

}  // namespace paceline

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

std::size_t FlatTensors::add_table(const std::string& name, std::int64_t rows, std::int64_t width) {
  const std::size_t number = add(name, {rows, width});
  layout_.tensors[number].table = true;
  return number;
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
    view(const_cast<float*>(parameters.data()), value_views_);  // only ever read
    copy(value_views_, values_);
    bound_values_ = parameters.data();
  }
  if (!gradient.empty() && gradient.data() != bound_gradient_) {
    view(gradient.data(), gradient_views_);
    copy(gradient_views_, gradients_);
    bound_gradient_ = gradient.data();
  }
}

void FlatTensors::keep_on(torch::Device device) {
  device_ = device;
  copies_ = true;
}

void FlatTensors::copy(const std::vector<torch::Tensor>& views,
                       std::vector<torch::Tensor>& copies) const {
  if (!copies_) {
    copies = views;
    return;
  }
  if (!copies.empty()) return;
  for (const torch::Tensor& each : views) copies.push_back(torch::empty(each.sizes(), device_));
}

void FlatTensors::fetch(std::size_t number) const {
  if (copies_) torch::Tensor(values_[number]).copy_(value_views_[number]);
}

void FlatTensors::store(std::size_t number) const {
  if (copies_) torch::Tensor(gradient_views_[number]).copy_(gradients_[number]);
}

}  // namespace paceline

#include "model/torch/alexnet.h"

namespace paceline {
namespace {

constexpr std::uint32_t kLeastPixels = 63;  // fewer leave nothing after the last pooling
constexpr std::int64_t kPooled = 6;         // × 6, of each of the last channels

torch::Tensor pool(const torch::Tensor& input) {
  return at::max_pool2d(input, {3, 3}, {2, 2});
}

}  // namespace

AlexNet::AlexNet(const ModelSetup& setup) : TorchClassifier(setup, kLeastPixels) {
  // Names are those of the usual Python implementation.
  const Convolution::Shape shapes[] = {{setup.data.image.channels, 64, 11, 4, 2},
                                       {64, 192, 5, 1, 2},
                                       {192, 384, 3, 1, 1},
                                       {384, 256, 3, 1, 1},
                                       {256, 256, 3, 1, 1}};
  const char* names[] = {"features.0", "features.3", "features.6", "features.8", "features.10"};
  for (std::size_t i = 0; i < std::size(shapes); ++i) {
    convolutions_.emplace_back(tensors_, names[i], shapes[i]);
  }
  linears_.emplace_back(tensors_, "classifier.1", 256 * kPooled * kPooled, 4096);
  linears_.emplace_back(tensors_, "classifier.4", 4096, 4096);
  linears_.emplace_back(tensors_, "classifier.6", 4096, setup.data.classes);
}

void AlexNet::initialize(std::uint64_t seed, std::span<float> parameters) const {
  for (const Convolution& layer : convolutions_) layer.initialize(seed, parameters);
  for (const Linear& layer : linears_) layer.initialize(seed, parameters);
}

std::vector<Matrix> AlexNet::matrices() const {
  std::vector<Matrix> matrices;
  for (const Linear& layer : linears_) matrices.push_back(layer.matrix());
  return matrices;
}

void AlexNet::multiply(const Matrix& matrix, const Factors& factors,
                       std::span<float> gradient) const {
  paceline::multiply(matrix, factors, gradient);
}

torch::Tensor AlexNet::scores(const Pass& pass) const {
  torch::Tensor x = images(pass);
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    x = convolutions_[i].forward(x, pass).relu_();
    if (i == 0 || i == 1 || i == 4) x = pool(x);
  }
  if (x.size(2) != kPooled || x.size(3) != kPooled) {
    x = at::adaptive_avg_pool2d(x, {kPooled, kPooled});
  }
  x = x.flatten(1);
  for (std::size_t i = 0; i < linears_.size(); ++i) {
    const bool last = i + 1 == linears_.size();
    if (!last) x = dropout(x, setup_.options.dropout, i, pass);
    x = linears_[i].forward(x, pass);
    if (!last) x = x.relu_();
  }
  return x;
}

}  // namespace paceline

#include "model/torch/classifier.h"

#include <algorithm>

#include "base/error.h"
#include "model/torch/device.h"
#include "model/torch/images.h"
#include "model/torch/truth.h"

namespace paceline {

TorchClassifier::TorchClassifier(const ModelSetup& setup, std::uint32_t least) : setup_(setup) {
  const ImageShape& image = setup.data.image;
  if (image.channels == 0) {
    throw ConfigError("{} learns from images, and {} has none: choose another --data",
                      setup.options.name, setup.data.name);
  }
  if (std::min(image.height, image.width) < least) {
    throw ConfigError("{} needs images of at least {} × {} pixels, and those of {} have {} × {}",
                      setup.options.name, least, least, setup.data.name, image.width, image.height);
  }
  if (const auto device = other_device(setup.options)) tensors_.keep_on(*device);
}

torch::Tensor TorchClassifier::images(const Pass& pass) const {
  return images_of(pass.batch, setup_.data.image).to(tensors_.device());
}

Loss TorchClassifier::gradient(const Batch& batch, std::span<const float> parameters,
                               std::span<float> gradient, Flow& flow) {
  tensors_.bind(parameters, gradient);
  const Pass pass{tensors_, batch, flow, true, setup_.seed, setup_.options.precision};
  const Truth truth(batch, setup_.data);
  const torch::Tensor result = scores(pass).cpu();
  const torch::Tensor sum = truth.error(result);
  flow.turn();
  sum.backward();
  return truth.loss(result, sum);
}

torch::Tensor TorchClassifier::untrained(const Batch& batch, std::span<const float> parameters) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  return scores({tensors_, batch, flow, false, setup_.seed, setup_.options.precision}).cpu();
}

Loss TorchClassifier::evaluate(const Batch& batch, std::span<const float> parameters) {
  return Truth(batch, setup_.data).loss(untrained(batch, parameters));
}

void TorchClassifier::predict(const Batch& batch, std::span<const float> parameters,
                              std::span<float> probabilities) {
  write_probabilities(untrained(batch, parameters), probabilities);
}

}  // namespace paceline

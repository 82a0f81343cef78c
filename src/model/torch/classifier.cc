#include "model/torch/classifier.h"

#include <algorithm>

#include "base/error.h"
#include "model/torch/images.h"

namespace paceline {
namespace {

Loss loss_of(const torch::Tensor& scores, const torch::Tensor& labels, const torch::Tensor& sum) {
  Loss loss;
  loss.sum = sum.item<double>();
  loss.examples = static_cast<std::uint64_t>(labels.size(0));
  loss.weight = static_cast<double>(loss.examples);
  loss.predictions = loss.examples;
  loss.correct = static_cast<std::uint64_t>(scores.argmax(1).eq(labels).sum().item<std::int64_t>());
  return loss;
}

torch::Tensor cross_entropy(const torch::Tensor& scores, const torch::Tensor& labels) {
  return at::cross_entropy_loss(scores, labels, {}, at::Reduction::Sum);
}

}  // namespace

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
}

torch::Tensor TorchClassifier::labels(const Batch& batch) const {
  torch::Tensor labels = torch::empty({static_cast<std::int64_t>(batch.size())}, torch::kInt64);
  auto* out = labels.data_ptr<std::int64_t>();
  for (const std::int32_t label : batch.labels) {
    if (label < 0 || label >= setup_.data.classes) {
      throw DataError("{}: the label {} is not one of the {} classes", setup_.data.name, label,
                      setup_.data.classes);
    }
    *out++ = label;
  }
  return labels;
}

Loss TorchClassifier::gradient(const Batch& batch, std::span<const float> parameters,
                               std::span<float> gradient, Flow& flow) {
  tensors_.bind(parameters, gradient);
  const Pass pass{tensors_, batch, flow, true, setup_.seed};
  const torch::Tensor truth = labels(batch);
  const torch::Tensor result = scores(images_of(batch, setup_.data.image), pass);
  const torch::Tensor sum = cross_entropy(result, truth);
  sum.backward();
  return loss_of(result, truth, sum);
}

torch::Tensor TorchClassifier::untrained(const Batch& batch, std::span<const float> parameters) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  return scores(images_of(batch, setup_.data.image), {tensors_, batch, flow, false, setup_.seed});
}

Loss TorchClassifier::evaluate(const Batch& batch, std::span<const float> parameters) {
  const torch::Tensor result = untrained(batch, parameters);
  const torch::Tensor truth = labels(batch);
  return loss_of(result, truth, cross_entropy(result, truth));
}

void TorchClassifier::predict(const Batch& batch, std::span<const float> parameters,
                              std::span<float> probabilities) {
  const torch::Tensor result = untrained(batch, parameters).softmax(1).contiguous();
  PACELINE_CHECK(probabilities.size() == static_cast<std::size_t>(result.numel()));
  std::copy_n(result.data_ptr<float>(), probabilities.size(), probabilities.begin());
}

}  // namespace paceline

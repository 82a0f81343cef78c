#include "model/torch/truth.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

std::uint64_t count(const torch::Tensor& which) {
  return static_cast<std::uint64_t>(which.sum().item<std::int64_t>());
}

}  // namespace

Truth::Truth(const Batch& batch, const DatasetInfo& data, LossKind kind)
    : batch_(batch),
      kind_(kind),
      two_classes_(data.classes == 2),
      labels_(torch::empty({static_cast<std::int64_t>(batch.size())}, torch::kInt64)) {
  auto* out = labels_.data_ptr<std::int64_t>();
  for (const std::int32_t label : batch.labels) {
    if (label < 0 || label >= data.classes) {
      throw DataError("{}: the label {} is not one of the {} classes", data.name, label,
                      data.classes);
    }
    *out++ = label;
  }
}

torch::Tensor Truth::counts() const {
  torch::Tensor counted = torch::ones_like(labels_, torch::kBool);
  for (std::size_t i = 0; i < batch_.weights.size(); ++i) {
    counted.data_ptr<bool>()[i] = batch_.weights[i] > 0;
  }
  return counted;
}

torch::Tensor Truth::error(const torch::Tensor& answers) const {
  torch::Tensor errors = kind_ == LossKind::kCrossEntropy
                             ? at::cross_entropy_loss(answers, labels_, {}, at::Reduction::None)
                             : (answers.squeeze(1) - labels_).square();
  if (!batch_.weights.empty()) {
    errors = errors * torch::from_blob(const_cast<float*>(batch_.weights.data()), labels_.sizes(),
                                       torch::kFloat32);
  }
  return errors.sum();
}

Loss Truth::loss(const torch::Tensor& answers, const torch::Tensor& error) const {
  const torch::Tensor counted = counts();
  const torch::Tensor guess = kind_ == LossKind::kCrossEntropy
                                  ? answers.argmax(1)
                                  : answers.squeeze(1).round().to(torch::kInt64);
  Loss loss;
  loss.sum = error.item<double>();
  loss.weight = batch_.weights.empty() ? static_cast<double>(batch_.size()) : batch_.weight;
  loss.examples = batch_.size();
  loss.predictions = count(counted);
  loss.correct = count(guess.eq(labels_).logical_and(counted));
  if (two_classes_) {
    loss.positives.right = count(guess.eq(1).logical_and(labels_.eq(1)).logical_and(counted));
    loss.positives.found = count(guess.eq(1).logical_and(counted));
    loss.positives.there = count(labels_.eq(1).logical_and(counted));
  }
  return loss;
}

torch::Tensor two_classes(const torch::Tensor& scores) {
  const torch::Tensor second = scores.reshape({-1, 1});
  return torch::cat({torch::zeros_like(second), second}, 1);
}

torch::Tensor nearest_class(const torch::Tensor& numbers, std::int64_t classes) {
  return (numbers - torch::arange(classes, torch::kFloat32)).abs().mul(-1000);
}

void write_probabilities(const torch::Tensor& scores, std::span<float> probabilities) {
  const torch::Tensor result = scores.softmax(1).contiguous();
  PACELINE_CHECK(probabilities.size() == static_cast<std::size_t>(result.numel()));
  std::copy_n(result.data_ptr<float>(), probabilities.size(), probabilities.begin());
}

}  // namespace paceline

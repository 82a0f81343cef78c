#include "model/torch/truth.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

std::uint64_t count(const torch::Tensor& which) {
  return static_cast<std::uint64_t>(which.sum().item<std::int64_t>());
}

}  // namespace

Truth::Truth(const Batch& batch, const DatasetInfo& data)
    : batch_(batch),
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

torch::Tensor Truth::entropy(const torch::Tensor& scores) const {
  if (batch_.weights.empty()) {
    return at::cross_entropy_loss(scores, labels_, {}, at::Reduction::Sum);
  }
  const torch::Tensor weights =
      torch::from_blob(const_cast<float*>(batch_.weights.data()), labels_.sizes(), torch::kFloat32);
  return at::cross_entropy_loss(scores, labels_, {}, at::Reduction::None).mul(weights).sum();
}

Loss Truth::loss(const torch::Tensor& scores, const torch::Tensor& entropy) const {
  const torch::Tensor guess = scores.argmax(1);
  Loss loss;
  loss.sum = entropy.item<double>();
  loss.weight = batch_.weights.empty() ? static_cast<double>(batch_.size()) : batch_.weight;
  loss.examples = batch_.size();
  loss.predictions = loss.examples;
  loss.correct = count(guess.eq(labels_));
  if (scores.size(1) == 2) {
    loss.positives.right = count(guess.logical_and(labels_));
    loss.positives.found = count(guess.ne(0));
    loss.positives.there = count(labels_.ne(0));
  }
  return loss;
}

torch::Tensor two_classes(const torch::Tensor& scores) {
  const torch::Tensor second = scores.reshape({-1, 1});
  return torch::cat({torch::zeros_like(second), second}, 1);
}

void write_probabilities(const torch::Tensor& scores, std::span<float> probabilities) {
  const torch::Tensor result = scores.softmax(1).contiguous();
  PACELINE_CHECK(probabilities.size() == static_cast<std::size_t>(result.numel()));
  std::copy_n(result.data_ptr<float>(), probabilities.size(), probabilities.begin());
}

}  // namespace paceline

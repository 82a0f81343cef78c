// The labels of a batch, and how well a network's answers agree with them: scores
// [examples, classes] under cross-entropy, or the labels as numbers [examples, 1] under the
// squared error.
#pragma once

#include <torch/torch.h>

#include <span>

#include "data/dataset.h"
#include "model/model.h"
#include "model/options.h"

namespace paceline {

class Truth {
 public:
  // Throws DataError when a label is not one of the classes. `batch` must outlive it.
  Truth(const Batch& batch, const DatasetInfo& data, LossKind kind = LossKind::kCrossEntropy);

  // Summed over the examples by their weights.
  torch::Tensor error(const torch::Tensor& answers) const;
  Loss loss(const torch::Tensor& answers, const torch::Tensor& error) const;
  Loss loss(const torch::Tensor& answers) const { return loss(answers, error(answers)); }

 private:
  torch::Tensor counts() const;  // which examples weigh something

  const Batch& batch_;
  LossKind kind_;
  bool two_classes_;
  torch::Tensor labels_;  // [examples]
};

// Scores of two classes from one per example: how much likelier the second class is.
torch::Tensor two_classes(const torch::Tensor& scores);

// Scores of classes of which none but the nearest to the number is likely.
torch::Tensor nearest_class(const torch::Tensor& numbers, std::int64_t classes);

void write_probabilities(const torch::Tensor& scores, std::span<float> probabilities);

}  // namespace paceline

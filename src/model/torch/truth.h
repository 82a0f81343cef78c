// The labels of a batch, and how well scores [examples, classes] agree with them.
#pragma once

#include <torch/torch.h>

#include <span>

#include "data/dataset.h"
#include "model/model.h"

namespace paceline {

class Truth {
 public:
  // Throws DataError when a label is not one of the classes. `batch` must outlive it.
  Truth(const Batch& batch, const DatasetInfo& data);

  // The cross-entropy, summed over the examples by their weights.
  torch::Tensor entropy(const torch::Tensor& scores) const;
  Loss loss(const torch::Tensor& scores, const torch::Tensor& entropy) const;
  Loss loss(const torch::Tensor& scores) const { return loss(scores, entropy(scores)); }

 private:
  const Batch& batch_;
  torch::Tensor labels_;  // [examples]
};

// Scores of two classes from one per example: how much likelier the second class is.
torch::Tensor two_classes(const torch::Tensor& scores);

void write_probabilities(const torch::Tensor& scores, std::span<float> probabilities);

}  // namespace paceline

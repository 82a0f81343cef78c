// States → scores of all words → cross-entropy, in one go: the scores of a batch would be
// gigabytes, so they are formed piece by piece and turned into gradients at once.
#pragma once

#include "model/torch/layers.h"

namespace paceline {

class Projection : public Layer {
 public:
  // Tensors NAME.weight [words, width] and NAME.bias [words].
  Projection(FlatTensors& tensors, const std::string& name, std::int64_t width, std::int64_t words);

  struct Result {
    torch::Tensor loss;         // one number, the sum; part of the graph when training
    std::uint64_t correct = 0;  // words with the highest score
  };
  // Of states [words in the batch, width] and the numbers of the right words.
  Result entropy(const torch::Tensor& states, const torch::Tensor& words, const Pass& pass) const;

  torch::Tensor scores(const torch::Tensor& states, const Pass& pass) const;  // outside a graph

 private:
  std::int64_t words_;
};

}  // namespace paceline

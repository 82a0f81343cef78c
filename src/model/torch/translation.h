// A sentence → a sentence in another language.
//
// An encoder of two bidirectional LSTM layers reads the sentence; their four last states are
// what the four layers of the decoder begin with, which predicts the translation word by
// word. The loss is the cross-entropy per word.
#pragma once

#include <vector>

#include "model/catalogue/registry.h"
#include "model/torch/embedding.h"
#include "model/torch/lstm.h"
#include "model/torch/projection.h"
#include "model/torch/sequences.h"

namespace paceline {

class Translation final : public Model {
 public:
  // Throws ConfigError when the data are not pairs of sentences.
  explicit Translation(const ModelSetup& setup);

  const Layout& layout() const override { return tensors_.layout(); }
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  // The probabilities of the translations' first words.
  void predict(const Batch& batch, std::span<const float> parameters,
               std::span<float> probabilities) override;
  // The likeliest word, then the likeliest after it, and so on to the end of the sentence or
  // `most` words.
  std::vector<std::vector<std::int32_t>> translate(const Batch& batch,
                                                   std::span<const float> parameters,
                                                   std::size_t most) override;

 private:
  using Starts = std::vector<Lstm::State>;  // of the decoder's layers

  Starts encode(const Pass& pass) const;
  torch::Tensor decode(const torch::Tensor& tokens, Starts& states, const Pass& pass) const;
  Loss pass_over(const Pass& pass) const;

  ModelSetup setup_;
  FlatTensors tensors_;
  Embedding source_;
  std::vector<Lstm> encoder_;  // forward and backward of each layer
  Embedding target_;
  std::vector<Lstm> decoder_;
  Projection projection_;
};

}  // namespace paceline

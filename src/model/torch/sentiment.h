// A text → good or bad: an embedding, an LSTM, and one score from its last state.
#pragma once

#include "model/catalogue/registry.h"
#include "model/torch/embedding.h"
#include "model/torch/lstm.h"

namespace paceline {

class Sentiment final : public Model {
 public:
  // Throws ConfigError when the data are not texts with labels.
  explicit Sentiment(const ModelSetup& setup);

  const Layout& layout() const override { return tensors_.layout(); }
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  void predict(const Batch& batch, std::span<const float> parameters,
               std::span<float> probabilities) override;

 private:
  torch::Tensor scores(const Pass& pass) const;  // [examples, 2]
  torch::Tensor untrained(const Batch& batch, std::span<const float> parameters);

  ModelSetup setup_;
  FlatTensors tensors_;
  Embedding embedding_;
  Lstm lstm_;
  Linear linear_;
};

}  // namespace paceline

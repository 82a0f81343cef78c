// Images → scores of the classes, under cross-entropy. Networks differ in scores().
#pragma once

#include "model/catalogue/registry.h"
#include "model/torch/flat_tensors.h"
#include "model/torch/layers.h"

namespace paceline {

class TorchClassifier : public Model {
 public:
  const Layout& layout() const override { return tensors_.layout(); }
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  void predict(const Batch& batch, std::span<const float> parameters,
               std::span<float> probabilities) override;

 protected:
  // Throws ConfigError when the data are not images of at least `least` × `least` pixels, or
  // there is no such device.
  TorchClassifier(const ModelSetup& setup, std::uint32_t least);
  virtual torch::Tensor scores(const Pass& pass) const = 0;
  // [examples, channels, height, width], in the range of −1 to 1.
  torch::Tensor images(const Pass& pass) const;

  FlatTensors tensors_;
  ModelSetup setup_;

 private:
  torch::Tensor untrained(const Batch& batch, std::span<const float> parameters);
};

}  // namespace paceline

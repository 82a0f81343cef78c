// A network of the user's own: a TorchScript file, as torch.jit.save writes it.
//
// Its parameters and their gradients become views into the flat vectors. It is called with
// one tensor: images [examples, channels, height, width] between −1 and 1, tokens [examples,
// times] of 64 bits, or rows [examples, width] between 0 and 1, by what the data are. It
// answers with scores [examples, classes], or [examples] and [examples, 1] for two classes; under
// --loss squared-error with the labels as numbers, [examples] or [examples, 1].
//
// What is random in it is seeded by the epoch and the first example of a share, so the
// result depends on how steps are cut into shares.
#pragma once

#include <torch/script.h>

#include "model/catalogue/registry.h"
#include "model/torch/flat_tensors.h"

namespace paceline {

class ScriptModel final : public Model {
 public:
  // Throws ConfigError when the file is none, or does not answer as it should.
  explicit ScriptModel(const ModelSetup& setup);

  const Layout& layout() const override { return tensors_.layout(); }
  // What the file holds, whatever the seed.
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  Loss gradient(const Batch& batch, std::span<const float> parameters, std::span<float> gradient,
                Flow& flow) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  void predict(const Batch& batch, std::span<const float> parameters,
               std::span<float> probabilities) override;

 private:
  void bind(std::span<const float> parameters, std::span<float> gradient);
  bool numbers() const { return setup_.options.loss == LossKind::kSquaredError; }
  torch::Tensor scores(const Batch& batch);
  torch::Tensor untrained(const Batch& batch, std::span<const float> parameters);
  torch::Tensor input(const Batch& batch) const;
  void refuse_batch_statistics() const;
  void try_out();

  ModelSetup setup_;
  FlatTensors tensors_;
  torch::jit::Module module_;
  std::vector<torch::Tensor> parameters_;  // of the module
  std::vector<torch::Tensor> first_;       // their values in the file
};

}  // namespace paceline

// A small convolutional network for images of any size from 16 pixels on: a backbone of six
// convolutions with group normalization, the mean over all places, and a linear top.
//
// With TrainedPart::kTop the backbone is frozen. Its features of an example are then always
// the same; they are computed once and kept in a file of the run, which all its processes on
// a host share.
#pragma once

#include <memory>
#include <vector>

#include "model/torch/classifier.h"
#include "model/torch/features.h"

namespace paceline {

// Images → features [examples, kFeatures].
class Backbone {
 public:
  static constexpr std::int64_t kFeatures = 128;

  Backbone(FlatTensors& tensors, std::int64_t channels);
  void initialize(std::uint64_t seed, std::span<float> parameters) const;
  torch::Tensor features(const torch::Tensor& images, const Pass& pass) const;

 private:
  std::vector<Convolution> convolutions_;
  std::vector<GroupNorm> norms_;
};

class ImageQuality final : public TorchClassifier {
 public:
  explicit ImageQuality(const ModelSetup& setup);
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  const Layout& frozen() const override { return frozen_.layout(); }
  void freeze(std::span<const float> values) override;
  Loss evaluate(const Batch& batch, std::span<const float> parameters) override;
  std::vector<Matrix> matrices() const override { return {top_->matrix()}; }
  void multiply(const Matrix& matrix, const Factors& factors,
                std::span<float> gradient) const override;

 private:
  torch::Tensor scores(const Pass& pass) const override;
  torch::Tensor frozen_features(const Pass& pass) const;

  FlatTensors frozen_;
  Buffer frozen_values_;
  std::unique_ptr<Backbone> backbone_;
  std::unique_ptr<Linear> top_;
  mutable FeatureCache train_features_;
  mutable FeatureCache test_features_;
  bool testing_ = false;  // the batch is of the test part
};

}  // namespace paceline

// AlexNet (Krizhevsky, arXiv 1404.5997): five convolutions and three fully connected
// layers, 61.1 million parameters for 1,000 classes.
#pragma once

#include <vector>

#include "model/torch/classifier.h"

namespace paceline {

class AlexNet final : public TorchClassifier {
 public:
  explicit AlexNet(const ModelSetup& setup);
  void initialize(std::uint64_t seed, std::span<float> parameters) const override;
  std::vector<Matrix> matrices() const override;
  void multiply(const Matrix& matrix, const Factors& factors,
                std::span<float> gradient) const override;

 private:
  torch::Tensor scores(const Pass& pass) const override;

  std::vector<Convolution> convolutions_;
  std::vector<Linear> linears_;
};

}  // namespace paceline

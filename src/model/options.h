// What can be chosen about a model.
#pragma once

#include <cstdint>
#include <string>

namespace paceline {

enum class RnnKind { kFused, kStep };
enum class TrainedPart { kAll, kTop };

// Of the products of convolutions and fully connected layers; everything else has 32 bits.
enum class Precision { kFloat, kBf16 };

enum class DeviceKind { kCpu, kCuda };
enum class LossKind { kCrossEntropy, kSquaredError };

struct ModelOptions {
  std::string name = "softmax";
  double dropout = 0.5;           // share of units that are left out while training
  std::uint32_t embedding = 128;  // numbers per word
  std::uint32_t hidden = 256;     // units of a recurrent layer
  RnnKind rnn = RnnKind::kFused;
  TrainedPart train = TrainedPart::kAll;  // kTop: all but the last layer is frozen
  Precision precision = Precision::kFloat;
  LossKind loss = LossKind::kCrossEntropy;  // of a TorchScript file
  DeviceKind device = DeviceKind::kCpu;
  std::uint32_t threads = 0;  // that compute; 0: a worker's share of the cores, else one
};

// Whether it answers with a number: that is near the truth or far from it, never right or wrong.
inline bool predicts_numbers(const ModelOptions& model) {
  return model.name == "regression";
}

}  // namespace paceline

// What can be chosen about a model.
#pragma once

#include <cstdint>
#include <string>

namespace paceline {

enum class RnnKind { kFused, kStep };

struct ModelOptions {
  std::string name = "softmax";
  double dropout = 0.5;           // share of units that are left out while training
  std::uint32_t embedding = 128;  // numbers per word
  std::uint32_t hidden = 256;     // units of a recurrent layer
  RnnKind rnn = RnnKind::kFused;
};

}  // namespace paceline

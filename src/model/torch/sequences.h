// Sequences of different lengths as tensors.
#pragma once

#include <torch/torch.h>

#include "data/text.h"
#include "model/model.h"

namespace paceline {

struct PaddedTokens {
  torch::Tensor tokens;   // [times, examples], 64 bits; padding at the end of short ones
  torch::Tensor lengths;  // [examples], at least 1
};

// Sequence `number` of every row. Throws DataError for a token that is not below
// `vocabulary`, naming `data`.
PaddedTokens pad(const Batch& batch, std::size_t number, std::int64_t vocabulary,
                 const std::string& data);

// The state at each sequence's own end: [examples, width] of [times, examples, width].
torch::Tensor last_of(const torch::Tensor& states, const torch::Tensor& lengths);

}  // namespace paceline

#include "model/torch/sequences.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

PaddedTokens pad(const Batch& batch, std::size_t number, std::int64_t vocabulary,
                 const std::string& data) {
  const auto examples = static_cast<std::int64_t>(batch.size());
  std::size_t longest = 1;
  for (const std::uint8_t* row : batch.rows) {
    longest = std::max(longest, sequence_of(row, number).size());
  }
  PaddedTokens padded{torch::zeros({static_cast<std::int64_t>(longest), examples}, torch::kInt64),
                      torch::empty({examples}, torch::kInt64)};
  auto* tokens = padded.tokens.data_ptr<std::int64_t>();
  auto* lengths = padded.lengths.data_ptr<std::int64_t>();
  for (std::int64_t example = 0; example < examples; ++example) {
    const auto sequence = sequence_of(batch.rows[static_cast<std::size_t>(example)], number);
    lengths[example] = std::max<std::int64_t>(1, static_cast<std::int64_t>(sequence.size()));
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      if (sequence[t] < 0 || sequence[t] >= vocabulary) {
        throw DataError("{}: the token {} is not below the vocabulary's size, {}", data,
                        sequence[t], vocabulary);
      }
      tokens[static_cast<std::int64_t>(t) * examples + example] = sequence[t];
    }
  }
  return padded;
}

torch::Tensor last_of(const torch::Tensor& states, const torch::Tensor& lengths) {
  const std::int64_t examples = states.size(1);
  const torch::Tensor places = (lengths - 1) * examples + torch::arange(examples, torch::kInt64);
  return states.reshape({-1, states.size(2)}).index_select(0, places);
}

}  // namespace paceline

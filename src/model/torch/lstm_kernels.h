// The pointwise part of a step of an LSTM, in one pass over memory each way.
//
// The gates of an example are four vectors behind each other, in libtorch's order: input,
// forget, cell, output.
#pragma once

#include <cstddef>

namespace paceline {

// What a step of `examples` × `hidden` reads and writes.
struct LstmForward {
  std::size_t examples;
  std::size_t hidden;
  float* gates;              // [examples, 4, hidden]: sums in, activations out
  const float* cell_before;  // [examples, hidden]
  float* cell;
  float* output;
};
void lstm_forward(const LstmForward& step);

struct LstmBackward {
  std::size_t examples;
  std::size_t hidden;
  float* gates;  // activations in, gradients of the sums out
  const float* cell_before;
  const float* cell;
  const float* output_gradient;
  float* cell_gradient;  // of this step's cell in, of the one before out
};
void lstm_backward(const LstmBackward& step);

}  // namespace paceline

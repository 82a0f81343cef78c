// One layer of an LSTM in one direction, with its gates fused: the products with the inputs
// of all times are one large product, and so are those that form the gradients of the
// weights; what remains per time is one product and one pass over the gates.
//
// RnnKind::kStep does the same with libtorch's cell, time by time: what such a network costs
// without fusing.
#pragma once

#include "model/options.h"
#include "model/torch/layers.h"

namespace paceline {

class Lstm {
 public:
  // Tensors NAME.weight_ih_l0 [4·hidden, in], NAME.weight_hh_l0 [4·hidden, hidden] and
  // NAME.bias_ih_l0 [4·hidden], as libtorch names and orders them. It has a second bias,
  // which adds nothing; ours is their sum.
  Lstm(FlatTensors& tensors, const std::string& name, std::int64_t in, std::int64_t hidden,
       RnnKind kind = RnnKind::kFused);

  void initialize(std::uint64_t seed, std::span<float> parameters) const;

  struct State {  // [examples, hidden] each; undefined: zero
    torch::Tensor output, cell;
  };
  struct States {  // of all times: [times, examples, hidden]
    torch::Tensor outputs, cells;
  };
  // For inputs [times, examples, in]. What comes after a sequence's end does not change what
  // comes before it, so that shorter sequences are padded at their end.
  States forward(const torch::Tensor& input, const State& start, const Pass& pass) const;

  // For the graph alone.
  struct Trace {  // what the backward pass needs; states begin with the start
    torch::Tensor input, gates, cells, outputs;
  };
  struct Gradients {
    torch::Tensor input;
    State start;
  };
  Trace compute(const torch::Tensor& input, const State& start, const Pass& pass) const;
  Gradients backward(const States& errors, const Trace& trace, bool wanted_input, bool wanted_start,
                     const Pass& pass) const;
  torch::autograd::variable_list weights(const Pass& pass) const;
  void weight_gradients(const torch::autograd::variable_list& gradients, const Pass& pass) const;

 private:
  Range floats() const;
  States step_by_step(const torch::Tensor& input, const State& start, const Pass& pass) const;

  const FlatTensors& tensors_;
  std::size_t input_weight_;
  std::size_t hidden_weight_;
  std::size_t bias_;
  std::int64_t hidden_;
  RnnKind kind_;
};

}  // namespace paceline

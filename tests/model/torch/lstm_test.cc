#include "model/torch/lstm.h"

#include <gtest/gtest.h>

#include "base/buffer.h"

namespace paceline {
namespace {

struct Sizes {
  std::int64_t times, examples, in, hidden;
  RnnKind kind = RnnKind::kFused;
};

class LstmTest : public ::testing::TestWithParam<Sizes> {};

// A layer with random weights, beside libtorch's with the same.
class Layers {
 public:
  explicit Layers(const Sizes& sizes)
      : ours(tensors, "lstm", sizes.in, sizes.hidden, sizes.kind),
        theirs(torch::nn::LSTMOptions(sizes.in, sizes.hidden)) {
    parameters_ = Buffer::floats(tensors.layout().size);
    gradient_ = Buffer::floats(tensors.layout().size);
    ours.initialize(1, parameters_.as_floats());
    tensors.bind(parameters_.as_floats(), gradient_.as_floats());
    const torch::NoGradGuard no_graph;
    const auto names = theirs->named_parameters();
    names["weight_ih_l0"].copy_(tensors.value(0));
    names["weight_hh_l0"].copy_(tensors.value(1));
    names["bias_ih_l0"].copy_(tensors.value(2));
    names["bias_hh_l0"].zero_();
  }

  void expect_same_gradients() const {
    const auto names = theirs->named_parameters();
    EXPECT_TRUE(torch::allclose(tensors.gradient(0), names["weight_ih_l0"].grad(), 1e-3, 1e-4));
    EXPECT_TRUE(torch::allclose(tensors.gradient(1), names["weight_hh_l0"].grad(), 1e-3, 1e-4));
    EXPECT_TRUE(torch::allclose(tensors.gradient(2), names["bias_ih_l0"].grad(), 1e-3, 1e-4));
  }

  FlatTensors tensors;
  Lstm ours;
  torch::nn::LSTM theirs;
  Batch batch;
  NoFlow flow;
  Pass pass{tensors, batch, flow, true, 1};

 private:
  Buffer parameters_;
  Buffer gradient_;
};

torch::Tensor take_gradient(torch::Tensor& leaf) {
  const torch::Tensor gradient = leaf.grad().clone();
  leaf.mutable_grad() = torch::Tensor();
  return gradient;
}

TEST_P(LstmTest, HasTheOutputsAndGradientsOfLibtorch) {
  const auto [times, examples, in, hidden, kind] = GetParam();
  torch::manual_seed(1);
  Layers layers(GetParam());
  torch::Tensor input = torch::randn({times, examples, in}, torch::requires_grad());
  const torch::Tensor wanted = torch::randn({times, examples, hidden});
  const torch::Tensor output = layers.ours.forward(input, {}, layers.pass).outputs;
  (output * wanted).sum().backward();
  const torch::Tensor input_gradient = take_gradient(input);
  const torch::Tensor expected = std::get<0>(layers.theirs->forward(input));
  (expected * wanted).sum().backward();
  EXPECT_TRUE(torch::allclose(output, expected, 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(input_gradient, input.grad(), 1e-3, 1e-5));
  layers.expect_same_gradients();
}

TEST_P(LstmTest, StartsFromAStateAndPassesItsLastOneOn) {
  const auto [times, examples, in, hidden, kind] = GetParam();
  torch::manual_seed(2);
  Layers layers(GetParam());
  const torch::Tensor input = torch::randn({times, examples, in});
  torch::Tensor output = torch::randn({examples, hidden}, torch::requires_grad());
  torch::Tensor cell = torch::randn({examples, hidden}, torch::requires_grad());
  const torch::Tensor wanted = torch::randn({examples, hidden});
  const Lstm::States states = layers.ours.forward(input, {output, cell}, layers.pass);
  (states.cells[times - 1] * wanted + states.outputs[times - 1]).sum().backward();
  const torch::Tensor output_gradient = take_gradient(output);
  const torch::Tensor cell_gradient = take_gradient(cell);
  const auto [outputs, last] =
      layers.theirs->forward(input, std::make_tuple(output.unsqueeze(0), cell.unsqueeze(0)));
  (std::get<1>(last)[0] * wanted + std::get<0>(last)[0]).sum().backward();
  EXPECT_TRUE(torch::allclose(states.cells[times - 1], std::get<1>(last)[0], 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(output_gradient, output.grad(), 1e-3, 1e-5));
  EXPECT_TRUE(torch::allclose(cell_gradient, cell.grad(), 1e-3, 1e-5));
  layers.expect_same_gradients();
}

INSTANTIATE_TEST_SUITE_P(Shapes, LstmTest,
                         ::testing::Values(Sizes{5, 3, 7, 8}, Sizes{1, 2, 4, 3},
                                           Sizes{12, 1, 5, 17}, Sizes{5, 3, 7, 8, RnnKind::kStep}));

}  // namespace
}  // namespace paceline

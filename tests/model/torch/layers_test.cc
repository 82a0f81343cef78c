#include "model/torch/layers.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/buffer.h"

namespace paceline {
namespace {

// Writes down what is awaited and announced.
class RecordedFlow final : public Flow {
 public:
  void await(Range floats) override { awaited.push_back(floats); }
  void ready(Range floats) override { announced.push_back(floats); }
  std::vector<Range> awaited;
  std::vector<Range> announced;
};

Batch batch_of(std::size_t first, std::size_t count) {
  Batch batch;
  batch.examples.resize(count);
  std::iota(batch.examples.begin(), batch.examples.end(), first);
  batch.rows.resize(count);
  return batch;
}

// Our layer and libtorch's own, from the same parameters, on the same input.
double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

template <typename Reference>
void expect_same_gradients(const auto& layer, FlatTensors& tensors, torch::Tensor input,
                           const Reference& reference, Precision precision) {
  Buffer parameters = Buffer::floats(tensors.layout().size);
  Buffer gradient = Buffer::floats(tensors.layout().size);
  std::fill(gradient.as_floats().begin(), gradient.as_floats().end(), 1e9f);  // to be overwritten
  layer.initialize(7, parameters.as_floats());
  tensors.bind(parameters.as_floats(), gradient.as_floats());
  RecordedFlow flow;
  const Batch batch = batch_of(0, static_cast<std::size_t>(input.size(0)));
  const Pass pass{tensors, batch, flow, true, 1, precision};
  input.requires_grad_(true);

  const torch::Tensor output = layer.forward(input, pass);
  output.square().sum().backward();
  const torch::Tensor input_gradient = input.grad().clone();
  EXPECT_EQ(flow.awaited, (std::vector<Range>{{0, tensors.layout().size}}));
  EXPECT_EQ(flow.announced, (std::vector<Range>{{0, tensors.layout().size}}));

  input.mutable_grad() = torch::Tensor();
  torch::Tensor weight = tensors.value(0).clone().requires_grad_(true);
  torch::Tensor bias = tensors.value(1).clone().requires_grad_(true);
  const torch::Tensor expected = reference(input, weight, bias);
  expected.square().sum().backward();
  const std::span written = gradient.as_floats();  // wherever the tensors are
  EXPECT_LT(difference(torch::from_blob(written.data(), weight.sizes()), weight.grad()), 0.03);
  const double most = precision == Precision::kFloat ? 5e-6 : 0.03;
  EXPECT_LT(difference(output, expected), most);
  EXPECT_LT(difference(input_gradient, input.grad()), most);
  EXPECT_LT(difference(tensors.gradient(0), weight.grad()), most);
  EXPECT_LT(difference(tensors.gradient(1), bias.grad()), most);
  EXPECT_EQ(difference(output, expected) > 1e-5, precision == Precision::kBf16);
}

class TorchLayers : public ::testing::TestWithParam<Precision> {};

TEST_P(TorchLayers, ALinearLayerHasTheGradientsOfLibtorch) {
  torch::manual_seed(1);
  FlatTensors tensors;
  const Linear layer(tensors, "linear", 13, 7);
  expect_same_gradients(
      layer, tensors, torch::randn({5, 13}),
      [](auto x, auto weight, auto bias) { return at::linear(x, weight, bias); }, GetParam());
}

TEST_P(TorchLayers, AConvolutionHasTheGradientsOfLibtorch) {
  torch::manual_seed(1);
  FlatTensors tensors;
  const Convolution layer(tensors, "convolution", {3, 8, 5, 2, 1});
  const torch::Tensor input =
      torch::randn({4, 3, 19, 17}).contiguous(torch::MemoryFormat::ChannelsLast);
  expect_same_gradients(
      layer, tensors, input,
      [](auto x, auto weight, auto bias) { return at::conv2d(x, weight, bias, 2, 1); }, GetParam());
}

TEST(TorchLayer, ASmallKernelHasTheGradientsOfLibtorch) {
  torch::manual_seed(1);
  FlatTensors tensors;
  const Convolution layer(tensors, "convolution", {32, 40, 3, 1, 1});
  const torch::Tensor input =
      torch::randn({80, 32, 9, 7}).contiguous(torch::MemoryFormat::ChannelsLast);
  expect_same_gradients(
      layer, tensors, input,
      [](auto x, auto weight, auto bias) { return at::conv2d(x, weight, bias, 1, 1); },
      Precision::kFloat);
}

// As for a device with a memory of its own.
TEST(TorchLayer, CopiesAreKeptUpToDate) {
  torch::manual_seed(1);
  FlatTensors tensors;
  const Linear layer(tensors, "linear", 13, 7);
  tensors.keep_on(torch::kCPU);
  expect_same_gradients(
      layer, tensors, torch::randn({5, 13}),
      [](auto x, auto weight, auto bias) { return at::linear(x, weight, bias); },
      Precision::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Precisions, TorchLayers,
                         ::testing::Values(Precision::kFloat, Precision::kBf16),
                         [](const auto& given) {
                           return given.param == Precision::kFloat ? "float" : "bf16";
                         });

TEST(TorchLayer, StartingValuesAreAFunctionOfTheSeed) {
  FlatTensors tensors;
  const Linear layer(tensors, "linear", 100, 10);
  std::vector<float> first(tensors.layout().size);
  std::vector<float> again(first.size());
  std::vector<float> other(first.size());
  layer.initialize(1, first);
  layer.initialize(1, again);
  layer.initialize(2, other);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  for (const float value : first) EXPECT_LE(std::abs(value), 0.1f);
}

TEST(TorchLayer, DropoutDependsOnTheExampleAndNotOnTheCut) {
  const FlatTensors tensors;
  NoFlow flow;
  const torch::Tensor ones = torch::ones({8, 1000});
  const Batch whole = batch_of(0, 8);
  const torch::Tensor all = dropout(ones, 0.25, 3, {tensors, whole, flow, true, 5});
  const Batch tail = batch_of(5, 3);
  const torch::Tensor part = dropout(ones.narrow(0, 5, 3), 0.25, 3, {tensors, tail, flow, true, 5});
  EXPECT_TRUE(torch::equal(all.narrow(0, 5, 3), part));
  EXPECT_FALSE(torch::equal(all[0], all[1]));
  EXPECT_FALSE(torch::equal(all, dropout(ones, 0.25, 4, {tensors, whole, flow, true, 5})));
  EXPECT_FALSE(torch::equal(all, dropout(ones, 0.25, 3, {tensors, whole, flow, true, 6})));
  const double left_out = all.eq(0).sum().item<double>() / 8000;
  EXPECT_NEAR(left_out, 0.25, 0.02);
  EXPECT_NEAR(all.mean().item<double>(), 1, 0.03);  // the others make up for them
}

TEST(TorchLayer, NothingIsLeftOutOfATest) {
  const FlatTensors tensors;
  NoFlow flow;
  const Batch batch = batch_of(0, 2);
  const torch::Tensor ones = torch::ones({2, 10});
  EXPECT_TRUE(torch::equal(ones, dropout(ones, 0.5, 0, {tensors, batch, flow, false, 1})));
}

}  // namespace
}  // namespace paceline

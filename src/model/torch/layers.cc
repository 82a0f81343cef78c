#include "model/torch/layers.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "model/torch/winograd.h"

namespace paceline {
namespace {

// Puts a layer into libtorch's graph. The parameters are not part of the graph: backward()
// writes their gradients. `anchor` makes the graph begin here when the input needs no
// gradient of its own.
template <typename AnyLayer>
struct InGraph : public torch::autograd::Function<InGraph<AnyLayer>> {
  using Context = torch::autograd::AutogradContext;

  static torch::Tensor forward(Context* context, const torch::Tensor& input,
                               const torch::Tensor& /*anchor*/, std::int64_t layer,
                               std::int64_t pass, bool input_gradient) {
    context->saved_data["layer"] = layer;
    context->saved_data["pass"] = pass;
    context->saved_data["input_gradient"] = input_gradient;
    context->save_for_backward({input});
    return reinterpret_cast<const AnyLayer*>(layer)->compute(input,
                                                             *reinterpret_cast<const Pass*>(pass));
  }

  static torch::autograd::variable_list backward(Context* context,
                                                 const torch::autograd::variable_list& errors) {
    const auto& layer = *reinterpret_cast<const AnyLayer*>(context->saved_data["layer"].toInt());
    const auto& pass = *reinterpret_cast<const Pass*>(context->saved_data["pass"].toInt());
    const torch::Tensor input = context->get_saved_variables()[0];
    const bool wanted = context->saved_data["input_gradient"].toBool();
    return {layer.backward(errors[0], input, wanted, pass), {}, {}, {}, {}};
  }
};

template <typename AnyLayer>
torch::Tensor in_graph(const AnyLayer& layer, const torch::Tensor& input, const Pass& pass) {
  layer.await(pass);
  if (!pass.training) return layer.compute(input, pass);
  const torch::Tensor anchor = torch::zeros({}, torch::requires_grad());
  return InGraph<AnyLayer>::apply(input, anchor, reinterpret_cast<std::int64_t>(&layer),
                                  reinterpret_cast<std::int64_t>(&pass), input.requires_grad());
}

// 32 random bits; a cheap mixing function that compilers turn into vector instructions.
inline std::uint32_t mix32(std::uint32_t value) {
  value = (value ^ (value >> 16)) * 0x85EBCA6BU;
  value = (value ^ (value >> 13)) * 0xC2B2AE35U;
  return value ^ (value >> 16);
}

std::span<const float> as_span(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

Layer::Layer(FlatTensors& tensors, const std::string& name, const std::vector<std::int64_t>& shape)
    : tensors_(tensors),
      weight_(tensors.add(name + ".weight", shape)),
      bias_(tensors.add(name + ".bias", {shape[0]})),
      fan_in_(1) {
  for (std::size_t i = 1; i < shape.size(); ++i) fan_in_ *= shape[i];
}

void Layer::initialize(std::uint64_t seed, std::span<float> parameters) const {
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in_));
  for (const std::size_t number : {weight_, bias_}) {
    const Range floats = tensors_.floats(number);
    Random random(random_bits(seed, {number}));
    for (std::uint64_t i = floats.begin; i < floats.end; ++i) {
      parameters[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
    }
  }
}

void Layer::await(const Pass& pass) const {
  pass.flow.await({tensors_.floats(weight_).begin, tensors_.floats(bias_).end});
  for (const std::size_t number : {weight_, bias_}) tensors_.fetch(number);
}

void Layer::ready(const Pass& pass) const {
  for (const std::size_t number : {weight_, bias_}) tensors_.store(number);
  pass.flow.ready({tensors_.floats(weight_).begin, tensors_.floats(bias_).end});
}

Convolution::Convolution(FlatTensors& tensors, const std::string& name, const Shape& shape)
    : Layer(tensors, name, {shape.out, shape.in, shape.kernel, shape.kernel}), shape_(shape) {}

torch::Tensor Convolution::forward(const torch::Tensor& input, const Pass& pass) const {
  return in_graph(*this, input, pass);
}

bool Convolution::by_winograd(const torch::Tensor& input, const Pass& pass) const {
  return input.is_cpu() && pass.precision == Precision::kFloat &&
         suits_winograd(input, shape_.out, shape_.kernel, shape_.stride);
}

torch::Tensor Convolution::compute(const torch::Tensor& input, const Pass& pass) const {
  if (by_winograd(input, pass)) return winograd(input, weight(pass), bias(pass), shape_.padding);
  return at::conv2d(pass.rounded(input), pass.rounded(weight(pass)), pass.rounded(bias(pass)),
                    shape_.stride, shape_.padding)
      .to(torch::kFloat32);
}

torch::Tensor Convolution::backward(const torch::Tensor& error, const torch::Tensor& input,
                                    bool wanted, const Pass& pass) const {
  if (by_winograd(input, pass)) {
    const auto gradients = winograd_backward(error, input, weight(pass), shape_.padding, wanted);
    torch::Tensor bias_gradient = pass.tensors.gradient(bias_);
    at::sum_out(bias_gradient, error, {0, 2, 3});
    pass.tensors.gradient(weight_).copy_(gradients.weight);
    ready(pass);
    return gradients.input;
  }
  const std::int64_t stride[] = {shape_.stride, shape_.stride};
  const std::int64_t padding[] = {shape_.padding, shape_.padding};
  const std::int64_t dilation[] = {1, 1};
  const std::int64_t output_padding[] = {0, 0};
  const std::int64_t biases[] = {shape_.out};
  auto [input_gradient, weight_gradient, bias_gradient] = at::convolution_backward(
      pass.rounded(error), pass.rounded(input), pass.rounded(weight(pass)), at::IntArrayRef(biases),
      stride, padding, dilation, false, output_padding, 1, {wanted, true, true});
  pass.tensors.gradient(weight_).copy_(weight_gradient);
  pass.tensors.gradient(bias_).copy_(bias_gradient);
  ready(pass);
  return wanted ? input_gradient.to(torch::kFloat32) : input_gradient;
}

GroupNorm::GroupNorm(FlatTensors& tensors, const std::string& name, std::int64_t channels,
                     std::int64_t groups)
    : Layer(tensors, name, {channels}), groups_(groups) {}

void GroupNorm::initialize(std::span<float> parameters) const {
  const auto fill = [&](Range floats, float value) {
    std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(floats.begin), floats.size(),
                value);
  };
  fill(tensors_.floats(weight_), 1.0f);
  fill(tensors_.floats(bias_), 0.0f);
}

torch::Tensor GroupNorm::forward(const torch::Tensor& input, const Pass& pass) const {
  return in_graph(*this, input, pass);
}

// The result, and of each group the mean and the inverse of the deviation.
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> GroupNorm::normalize(
    const torch::Tensor& input, const Pass& pass) const {
  return at::native_group_norm(input, weight(pass), bias(pass), input.size(0), input.size(1),
                               input.size(2) * input.size(3), groups_, 1e-5);
}

torch::Tensor GroupNorm::compute(const torch::Tensor& input, const Pass& pass) const {
  return std::get<0>(normalize(input.contiguous(), pass));
}

// The statistics are computed again: that is cheaper than a way to keep them for this layer
// alone.
torch::Tensor GroupNorm::backward(const torch::Tensor& error, const torch::Tensor& input,
                                  bool wanted, const Pass& pass) const {
  const torch::Tensor plain = input.contiguous();
  const auto [result, mean, inverse] = normalize(plain, pass);
  auto [input_gradient, weight_gradient, bias_gradient] = at::native_group_norm_backward(
      error.contiguous(), plain, mean, inverse, weight(pass), input.size(0), input.size(1),
      input.size(2) * input.size(3), groups_, {wanted, true, true});
  pass.tensors.gradient(weight_).copy_(weight_gradient);
  pass.tensors.gradient(bias_).copy_(bias_gradient);
  ready(pass);
  return input_gradient;
}

Linear::Linear(FlatTensors& tensors, const std::string& name, std::int64_t in, std::int64_t out)
    : Layer(tensors, name, {out, in}) {}

torch::Tensor Linear::forward(const torch::Tensor& input, const Pass& pass) const {
  return in_graph(*this, input, pass);
}

torch::Tensor Linear::compute(const torch::Tensor& input, const Pass& pass) const {
  return at::linear(pass.rounded(input), pass.rounded(weight(pass)), pass.rounded(bias(pass)))
      .to(torch::kFloat32);
}

torch::Tensor Linear::backward(const torch::Tensor& error, const torch::Tensor& input, bool wanted,
                               const Pass& pass) const {
  torch::Tensor weight_gradient = pass.tensors.gradient(weight_);
  torch::Tensor bias_gradient = pass.tensors.gradient(bias_);
  torch::Tensor input_gradient;
  if (wanted) {
    input_gradient = pass.rounded(error).mm(pass.rounded(weight(pass))).to(torch::kFloat32);
  }
  at::sum_out(bias_gradient, error, {0});
  const Range floats = tensors_.floats(weight_);
  if (pass.flow.wants_factors(floats)) {
    tensors_.store(bias_);
    pass.flow.ready(tensors_.floats(bias_));
    const torch::Tensor errors = error.cpu().contiguous();
    const torch::Tensor inputs = input.cpu().contiguous();
    pass.flow.factors_ready(floats, {as_span(errors), as_span(inputs)});
  } else {
    if (pass.precision == Precision::kFloat) {
      at::mm_out(weight_gradient, error.t(), input);
    } else {
      weight_gradient.copy_(pass.rounded(error).t().mm(pass.rounded(input)));
    }
    ready(pass);
  }
  return input_gradient;
}

Matrix Linear::matrix() const {
  const auto& shape = tensors_.layout().tensors[weight_].shape;
  return {tensors_.floats(weight_), shape[0], shape[1]};
}

void multiply(const Matrix& matrix, const Factors& factors, std::span<float> gradient) {
  const torch::NoGradGuard no_graph;
  const auto view = [](std::span<const float> floats, std::uint64_t width) {
    return torch::from_blob(
        const_cast<float*>(floats.data()),
        {static_cast<std::int64_t>(floats.size() / width), static_cast<std::int64_t>(width)});
  };
  torch::Tensor into = view(gradient, matrix.in);
  at::mm_out(into, view(factors.errors, matrix.out).t(), view(factors.inputs, matrix.in));
}

torch::Tensor dropout(const torch::Tensor& input, double rate, std::uint64_t layer,
                      const Pass& pass) {
  if (!pass.training || rate == 0) return input;
  PACELINE_CHECK(pass.batch.examples.size() == static_cast<std::size_t>(input.size(0)));
  const torch::Tensor kept = torch::empty(input.sizes());
  const auto units = static_cast<std::uint32_t>(input.size(1));
  const auto limit = static_cast<std::uint32_t>(rate * 4294967296.0);
  const auto scale = static_cast<float>(1 / (1 - rate));
  float* out = kept.data_ptr<float>();
  for (const std::uint64_t example : pass.batch.examples) {
    const auto key = static_cast<std::uint32_t>(
        random_bits(pass.seed, {pass.batch.epoch, example, layer}) >> 32);
    for (std::uint32_t unit = 0; unit < units; ++unit) {
      out[unit] = mix32(key + unit * 0x9E3779B9U) < limit ? 0.0f : scale;
    }
    out += units;
  }
  return input * kept.to(input.device());
}

}  // namespace paceline

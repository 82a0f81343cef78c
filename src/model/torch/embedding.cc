#include "model/torch/embedding.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "data/words.h"

namespace paceline {
namespace {

struct EmbeddingInGraph : public torch::autograd::Function<EmbeddingInGraph> {
  using Context = torch::autograd::AutogradContext;

  static torch::Tensor forward(Context* context, const torch::Tensor& tokens,
                               const torch::Tensor& /*anchor*/, std::int64_t layer,
                               std::int64_t pass) {
    context->saved_data["layer"] = layer;
    context->saved_data["pass"] = pass;
    context->save_for_backward({tokens});
    return reinterpret_cast<const Embedding*>(layer)->compute(tokens,
                                                              *reinterpret_cast<const Pass*>(pass));
  }

  static torch::autograd::variable_list backward(Context* context,
                                                 const torch::autograd::variable_list& errors) {
    const auto& layer = *reinterpret_cast<const Embedding*>(context->saved_data["layer"].toInt());
    const auto& pass = *reinterpret_cast<const Pass*>(context->saved_data["pass"].toInt());
    layer.backward(errors[0], context->get_saved_variables()[0], pass);
    return {{}, {}, {}, {}};
  }
};

}  // namespace

Embedding::Embedding(FlatTensors& tensors, const std::string& name, std::int64_t tokens,
                     std::int64_t width)
    : tensors_(tensors),
      weight_(tensors.add_table(name + ".weight", tokens, width)),
      tokens_(tokens),
      width_(width) {}

void Embedding::initialize(std::uint64_t seed, std::span<float> parameters) const {
  const Range floats = tensors_.floats(weight_);
  const double deviation = 1 / std::sqrt(static_cast<double>(width_));
  Random random(random_bits(seed, {weight_}));
  for (std::uint64_t i = floats.begin; i < floats.end; ++i) {
    parameters[i] = static_cast<float>(deviation * random.normal());
  }
  const auto padding = static_cast<std::uint64_t>(Vocabulary::kPadding * width_);
  std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(floats.begin + padding), width_,
              0.0f);
}

torch::Tensor Embedding::forward(const torch::Tensor& tokens, const Pass& pass) const {
  pass.flow.await(tensors_.floats(weight_));
  if (!pass.training) return compute(tokens, pass);
  return EmbeddingInGraph::apply(tokens, torch::zeros({}, torch::requires_grad()),
                                 reinterpret_cast<std::int64_t>(this),
                                 reinterpret_cast<std::int64_t>(&pass));
}

torch::Tensor Embedding::compute(const torch::Tensor& tokens, const Pass& pass) const {
  return pass.tensors.value(weight_)
      .index_select(0, tokens.flatten())
      .view({tokens.size(0), tokens.size(1), width_});
}

// Few rows are touched; the others must not keep what an earlier batch left there. What
// padding has learned would depend on who pads how much, so it learns nothing.
void Embedding::backward(const torch::Tensor& error, const torch::Tensor& tokens,
                         const Pass& pass) const {
  const torch::Tensor all = error.contiguous();
  const torch::Tensor numbers = tokens.contiguous();
  float* gradient = pass.tensors.gradient(weight_).data_ptr<float>();
  std::fill_n(gradient, tokens_ * width_, 0.0f);
  const float* from = all.data_ptr<float>();
  const auto* number = numbers.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < numbers.numel(); ++i, from += width_) {
    if (number[i] == Vocabulary::kPadding) continue;
    float* row = gradient + number[i] * width_;
    for (std::int64_t j = 0; j < width_; ++j) row[j] += from[j];
  }
  pass.flow.ready(tensors_.floats(weight_));
}

}  // namespace paceline

#include "model/torch/projection.h"

#include <algorithm>

namespace paceline {
namespace {

constexpr std::int64_t kPieceFloats = std::int64_t{1} << 22;  // scores at a time: 16 MiB

// The gradients were formed with the loss; what comes back is one factor.
struct EntropyInGraph : public torch::autograd::Function<EntropyInGraph> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& /*states*/, const torch::Tensor& loss,
                               const torch::Tensor& gradient) {
    context->save_for_backward({gradient});
    return loss.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list&) {
    return {context->get_saved_variables()[0], {}, {}};
  }
};

}  // namespace

Projection::Projection(FlatTensors& tensors, const std::string& name, std::int64_t width,
                       std::int64_t words)
    : Layer(tensors, name, {words, width}), words_(words) {}

torch::Tensor Projection::scores(const torch::Tensor& states, const Pass& pass) const {
  await(pass);
  return at::linear(states, weight(pass), bias(pass));
}

Projection::Result Projection::entropy(const torch::Tensor& graph_states,
                                       const torch::Tensor& words, const Pass& pass) const {
  await(pass);
  const torch::Tensor states = graph_states.detach();
  const std::int64_t rows = states.size(0);
  const std::int64_t piece = std::max<std::int64_t>(1, kPieceFloats / words_);
  torch::Tensor weight_gradient, bias_gradient, state_gradient;
  if (pass.training) {
    weight_gradient = pass.tensors.gradient(weight_);
    bias_gradient = pass.tensors.gradient(bias_);
    state_gradient = torch::empty_like(states);
    bias_gradient.zero_();
    if (rows == 0) weight_gradient.zero_();
  }
  double sum = 0;
  Result result;
  for (std::int64_t begin = 0; begin < rows; begin += piece) {
    const std::int64_t count = std::min(piece, rows - begin);
    const torch::Tensor part = states.narrow(0, begin, count);
    const torch::Tensor right = words.narrow(0, begin, count);
    torch::Tensor scores = at::linear(part, weight(pass), bias(pass));
    result.correct +=
        static_cast<std::uint64_t>(scores.argmax(1).eq(right).sum().item<std::int64_t>());
    torch::Tensor logs = at::log_softmax(scores, 1);
    const torch::Tensor places = right.unsqueeze(1);
    sum -= logs.gather(1, places).sum(torch::kFloat64).item<double>();
    if (!pass.training) continue;
    logs.exp_();  // probabilities: the gradient of the scores but for the right words
    logs.scatter_add_(1, places, torch::full({count, 1}, -1.0f));
    torch::Tensor into = state_gradient.narrow(0, begin, count);
    at::mm_out(into, logs, weight(pass));
    if (begin == 0) {
      at::mm_out(weight_gradient, logs.t(), part);
    } else {
      weight_gradient.addmm_(logs.t(), part);
    }
    bias_gradient += logs.sum(0);
  }
  result.loss = torch::full({}, sum, torch::kFloat64);
  if (pass.training) {
    ready(pass);
    result.loss = EntropyInGraph::apply(graph_states, result.loss, state_gradient);
  }
  return result;
}

}  // namespace paceline

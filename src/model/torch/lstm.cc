#include "model/torch/lstm.h"

#include <cmath>

#include "base/random.h"
#include "model/torch/lstm_kernels.h"

namespace paceline {
namespace {

torch::Tensor without_first(const torch::Tensor& states) {
  return states.narrow(0, 1, states.size(0) - 1);
}

struct LstmInGraph : public torch::autograd::Function<LstmInGraph> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  // `anchor` makes the graph begin here when nothing that comes in needs a gradient; it also
  // stands for a start that is zero, since a graph takes no undefined tensors.
  static Tensors forward(Context* context, const torch::Tensor& input, const torch::Tensor& output,
                         const torch::Tensor& cell, const torch::Tensor& anchor, std::int64_t layer,
                         std::int64_t pass, bool wanted_input) {
    const bool started = !output.is_same(anchor);
    const Lstm::State start = started ? Lstm::State{output, cell} : Lstm::State{};
    const Lstm::Trace trace = reinterpret_cast<const Lstm*>(layer)->compute(
        input, start, *reinterpret_cast<const Pass*>(pass));
    context->saved_data["layer"] = layer;
    context->saved_data["pass"] = pass;
    context->saved_data["wanted_input"] = wanted_input;
    context->saved_data["wanted_start"] = started;
    context->save_for_backward({trace.input, trace.gates, trace.cells, trace.outputs});
    context->set_materialize_grads(false);
    return {without_first(trace.outputs), without_first(trace.cells)};
  }

  static Tensors backward(Context* context, const Tensors& errors) {
    const auto saved = context->get_saved_variables();
    const auto& layer = *reinterpret_cast<const Lstm*>(context->saved_data["layer"].toInt());
    const auto& pass = *reinterpret_cast<const Pass*>(context->saved_data["pass"].toInt());
    const Lstm::Gradients gradients =
        layer.backward({errors[0], errors[1]}, {saved[0], saved[1], saved[2], saved[3]},
                       context->saved_data["wanted_input"].toBool(),
                       context->saved_data["wanted_start"].toBool(), pass);
    return {gradients.input, gradients.start.output, gradients.start.cell, {}, {}, {}, {}};
  }
};

// The weights as the graph's beginning: their gradients come back once, summed over all uses.
struct WeightsInGraph : public torch::autograd::Function<WeightsInGraph> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static Tensors forward(Context* context, const torch::Tensor& /*anchor*/, std::int64_t layer,
                         std::int64_t pass) {
    context->saved_data["layer"] = layer;
    context->saved_data["pass"] = pass;
    return reinterpret_cast<const Lstm*>(layer)->weights(*reinterpret_cast<const Pass*>(pass));
  }
  static Tensors backward(Context* context, const Tensors& gradients) {
    const auto& layer = *reinterpret_cast<const Lstm*>(context->saved_data["layer"].toInt());
    layer.weight_gradients(gradients,
                           *reinterpret_cast<const Pass*>(context->saved_data["pass"].toInt()));
    return {{}, {}, {}};
  }
};

}  // namespace

Lstm::Lstm(FlatTensors& tensors, const std::string& name, std::int64_t in, std::int64_t hidden,
           RnnKind kind)
    : tensors_(tensors),
      input_weight_(tensors.add(name + ".weight_ih_l0", {4 * hidden, in})),
      hidden_weight_(tensors.add(name + ".weight_hh_l0", {4 * hidden, hidden})),
      bias_(tensors.add(name + ".bias_ih_l0", {4 * hidden})),
      hidden_(hidden),
      kind_(kind) {}

Range Lstm::floats() const {
  return {tensors_.floats(input_weight_).begin, tensors_.floats(bias_).end};
}

void Lstm::initialize(std::uint64_t seed, std::span<float> parameters) const {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_));
  Random random(random_bits(seed, {input_weight_}));
  for (std::uint64_t i = floats().begin; i < floats().end; ++i) {
    parameters[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
  }
}

Lstm::States Lstm::forward(const torch::Tensor& input, const State& start, const Pass& pass) const {
  pass.flow.await(floats());
  if (kind_ == RnnKind::kStep) return step_by_step(input, start, pass);
  if (!pass.training) {
    const Trace trace = compute(input, start, pass);
    return {without_first(trace.outputs), without_first(trace.cells)};
  }
  const torch::Tensor anchor = torch::zeros({}, torch::requires_grad());
  const bool started = start.output.defined();
  const auto states =
      LstmInGraph::apply(input, started ? start.output : anchor, started ? start.cell : anchor,
                         anchor, reinterpret_cast<std::int64_t>(this),
                         reinterpret_cast<std::int64_t>(&pass), input.requires_grad());
  return {states[0], states[1]};
}

torch::autograd::variable_list Lstm::weights(const Pass& pass) const {
  return {pass.tensors.value(input_weight_).detach(), pass.tensors.value(hidden_weight_).detach(),
          pass.tensors.value(bias_).detach()};
}

void Lstm::weight_gradients(const torch::autograd::variable_list& gradients,
                            const Pass& pass) const {
  pass.tensors.gradient(input_weight_).copy_(gradients[0]);
  pass.tensors.gradient(hidden_weight_).copy_(gradients[1]);
  pass.tensors.gradient(bias_).copy_(gradients[2]);
  pass.flow.ready(floats());
}

Lstm::States Lstm::step_by_step(const torch::Tensor& input, const State& start,
                                const Pass& pass) const {
  const auto used = pass.training ? WeightsInGraph::apply(torch::zeros({}, torch::requires_grad()),
                                                          reinterpret_cast<std::int64_t>(this),
                                                          reinterpret_cast<std::int64_t>(&pass))
                                  : weights(pass);
  const torch::Tensor zero = torch::zeros({input.size(1), hidden_});
  torch::Tensor output = start.output.defined() ? start.output : zero;
  torch::Tensor cell = start.cell.defined() ? start.cell : zero;
  std::vector<torch::Tensor> outputs, cells;
  for (std::int64_t t = 0; t < input.size(0); ++t) {
    std::tie(output, cell) = at::lstm_cell(input[t], {output, cell}, used[0], used[1], used[2], {});
    outputs.push_back(output);
    cells.push_back(cell);
  }
  return {torch::stack(outputs), torch::stack(cells)};
}

Lstm::Trace Lstm::compute(const torch::Tensor& given, const State& start, const Pass& pass) const {
  const torch::Tensor input = given.contiguous();
  const std::int64_t times = input.size(0);
  const std::int64_t examples = input.size(1);
  const torch::Tensor weight = pass.tensors.value(hidden_weight_).t();
  Trace trace{input,
              at::addmm(pass.tensors.value(bias_), input.view({times * examples, -1}),
                        pass.tensors.value(input_weight_).t())
                  .view({times, examples, 4 * hidden_}),
              torch::empty({times + 1, examples, hidden_}),
              torch::empty({times + 1, examples, hidden_})};
  if (start.output.defined()) {
    trace.outputs[0].copy_(start.output);
    trace.cells[0].copy_(start.cell);
  } else {
    trace.outputs[0].zero_();
    trace.cells[0].zero_();
  }
  for (std::int64_t t = 0; t < times; ++t) {
    torch::Tensor gates = trace.gates[t];
    if (t > 0 || start.output.defined()) gates.addmm_(trace.outputs[t], weight);
    lstm_forward({static_cast<std::size_t>(examples), static_cast<std::size_t>(hidden_),
                  gates.data_ptr<float>(), trace.cells[t].data_ptr<float>(),
                  trace.cells[t + 1].data_ptr<float>(), trace.outputs[t + 1].data_ptr<float>()});
  }
  return trace;
}

Lstm::Gradients Lstm::backward(const States& errors, const Trace& trace, bool wanted_input,
                               bool wanted_start, const Pass& pass) const {
  const std::int64_t times = trace.input.size(0);
  const std::int64_t examples = trace.input.size(1);
  const torch::Tensor& weight = pass.tensors.value(hidden_weight_);
  const torch::Tensor outputs =
      errors.outputs.defined() ? errors.outputs.contiguous() : torch::Tensor();
  torch::Tensor cell_gradient = torch::zeros({examples, hidden_});
  torch::Tensor output_gradient =
      outputs.defined() ? outputs[times - 1].clone() : torch::zeros({examples, hidden_});
  for (std::int64_t t = times - 1; t >= 0; --t) {
    if (errors.cells.defined()) cell_gradient += errors.cells[t];
    const torch::Tensor gates = trace.gates[t];
    lstm_backward({static_cast<std::size_t>(examples), static_cast<std::size_t>(hidden_),
                   gates.data_ptr<float>(), trace.cells[t].data_ptr<float>(),
                   trace.cells[t + 1].data_ptr<float>(), output_gradient.data_ptr<float>(),
                   cell_gradient.data_ptr<float>()});
    if (t > 0 && outputs.defined()) {
      at::addmm_out(output_gradient, outputs[t - 1], gates, weight);
    } else if (t > 0 || wanted_start) {
      at::mm_out(output_gradient, gates, weight);
    }
  }
  // The gates now hold the gradients of their sums.
  const torch::Tensor sums = trace.gates.view({times * examples, 4 * hidden_});
  const torch::Tensor before = trace.outputs.narrow(0, 0, times).view({times * examples, hidden_});
  torch::Tensor input_weight_gradient = pass.tensors.gradient(input_weight_);
  torch::Tensor hidden_weight_gradient = pass.tensors.gradient(hidden_weight_);
  torch::Tensor bias_gradient = pass.tensors.gradient(bias_);
  at::mm_out(input_weight_gradient, sums.t(), trace.input.view({times * examples, -1}));
  at::mm_out(hidden_weight_gradient, sums.t(), before);
  at::sum_out(bias_gradient, sums, {0});
  Gradients gradients;
  if (wanted_input) {
    gradients.input = sums.mm(pass.tensors.value(input_weight_)).view_as(trace.input);
  }
  pass.flow.ready(floats());
  if (wanted_start) gradients.start = {output_gradient, cell_gradient};
  return gradients;
}

}  // namespace paceline

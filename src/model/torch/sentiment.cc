#include "model/torch/sentiment.h"

#include "base/error.h"
#include "model/torch/sequences.h"
#include "model/torch/truth.h"

namespace paceline {
namespace {

const ModelSetup& of_labelled_texts(const ModelSetup& setup) {
  if (setup.data.text.sequences != 1) {
    throw ConfigError("{} learns from texts with labels, and {} has none: choose another --data",
                      setup.options.name, setup.data.name);
  }
  return setup;
}

}  // namespace

Sentiment::Sentiment(const ModelSetup& setup)
    : setup_(of_labelled_texts(setup)),
      embedding_(tensors_, "embedding", setup.data.text.vocabulary, setup.options.embedding),
      lstm_(tensors_, "lstm", setup.options.embedding, setup.options.hidden, setup.options.rnn),
      linear_(tensors_, "linear", setup.options.hidden, 1) {}

void Sentiment::initialize(std::uint64_t seed, std::span<float> parameters) const {
  embedding_.initialize(seed, parameters);
  lstm_.initialize(seed, parameters);
  linear_.initialize(seed, parameters);
}

torch::Tensor Sentiment::scores(const Pass& pass) const {
  const PaddedTokens text = pad(pass.batch, 0, setup_.data.text.vocabulary, setup_.data.name);
  const torch::Tensor states =
      lstm_.forward(embedding_.forward(text.tokens, pass), {}, pass).outputs;
  const torch::Tensor last =
      dropout(last_of(states, text.lengths), setup_.options.dropout, 0, pass);
  return two_classes(linear_.forward(last, pass));
}

Loss Sentiment::gradient(const Batch& batch, std::span<const float> parameters,
                         std::span<float> gradient, Flow& flow) {
  tensors_.bind(parameters, gradient);
  const Pass pass{tensors_, batch, flow, true, setup_.seed, setup_.options.precision};
  const Truth truth(batch, setup_.data);
  const torch::Tensor result = scores(pass);
  const torch::Tensor sum = truth.error(result);
  flow.turn();
  sum.backward();
  return truth.loss(result, sum);
}

torch::Tensor Sentiment::untrained(const Batch& batch, std::span<const float> parameters) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  return scores({tensors_, batch, flow, false, setup_.seed, setup_.options.precision});
}

Loss Sentiment::evaluate(const Batch& batch, std::span<const float> parameters) {
  return Truth(batch, setup_.data).loss(untrained(batch, parameters));
}

void Sentiment::predict(const Batch& batch, std::span<const float> parameters,
                        std::span<float> probabilities) {
  write_probabilities(untrained(batch, parameters), probabilities);
}

}  // namespace paceline

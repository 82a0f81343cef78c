#include "model/torch/sentiment.h"

#include "base/error.h"
#include "model/torch/sequences.h"

namespace paceline {
namespace {

const ModelSetup& checked(const ModelSetup& setup) {
  if (setup.data.text.sequences != 1) {
    throw ConfigError("{} learns from texts with labels, and {} has none: choose another --data",
                      setup.options.name, setup.data.name);
  }
  return setup;
}

torch::Tensor labels_of(const Batch& batch) {
  return torch::from_blob(const_cast<std::int32_t*>(batch.labels.data()),
                          {static_cast<std::int64_t>(batch.size())}, torch::kInt32)
      .to(torch::kFloat32);
}

torch::Tensor weights_of(const Batch& batch) {
  if (batch.weights.empty()) return torch::ones({static_cast<std::int64_t>(batch.size())});
  return torch::from_blob(const_cast<float*>(batch.weights.data()),
                          {static_cast<std::int64_t>(batch.size())}, torch::kFloat32);
}

torch::Tensor entropy(const torch::Tensor& scores, const torch::Tensor& labels,
                      const Batch& batch) {
  return at::binary_cross_entropy_with_logits(scores, labels, weights_of(batch), {},
                                              at::Reduction::Sum);
}

Loss loss_of(const torch::Tensor& scores, const torch::Tensor& labels, const torch::Tensor& sum,
             const Batch& batch) {
  const torch::Tensor good = scores.gt(0);
  const torch::Tensor truth = labels.gt(0.5);
  const auto count = [](const torch::Tensor& which) {
    return static_cast<std::uint64_t>(which.sum().item<std::int64_t>());
  };
  Loss loss;
  loss.sum = sum.item<double>();
  loss.weight = batch.weight;
  loss.examples = batch.size();
  loss.predictions = loss.examples;
  loss.correct = count(good.eq(truth));
  loss.positives.right = count(good.logical_and(truth));
  loss.positives.found = count(good);
  loss.positives.there = count(truth);
  return loss;
}

}  // namespace

Sentiment::Sentiment(const ModelSetup& setup)
    : setup_(checked(setup)),
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
  return linear_.forward(last, pass).squeeze(1);
}

Loss Sentiment::gradient(const Batch& batch, std::span<const float> parameters,
                         std::span<float> gradient, Flow& flow) {
  tensors_.bind(parameters, gradient);
  const Pass pass{tensors_, batch, flow, true, setup_.seed};
  const torch::Tensor labels = labels_of(batch);
  const torch::Tensor result = scores(pass);
  const torch::Tensor sum = entropy(result, labels, batch);
  sum.backward();
  return loss_of(result, labels, sum, batch);
}

Loss Sentiment::evaluate(const Batch& batch, std::span<const float> parameters) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  const torch::Tensor labels = labels_of(batch);
  const torch::Tensor result = scores({tensors_, batch, flow, false, setup_.seed});
  return loss_of(result, labels, entropy(result, labels, batch), batch);
}

void Sentiment::predict(const Batch& batch, std::span<const float> parameters,
                        std::span<float> probabilities) {
  const torch::NoGradGuard no_graph;
  tensors_.bind(parameters, {});
  NoFlow flow;
  const torch::Tensor good = scores({tensors_, batch, flow, false, setup_.seed}).sigmoid();
  PACELINE_CHECK(probabilities.size() == 2 * batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    probabilities[2 * i + 1] = good[static_cast<std::int64_t>(i)].item<float>();
    probabilities[2 * i] = 1 - probabilities[2 * i + 1];
  }
}

}  // namespace paceline

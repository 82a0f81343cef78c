#include "model/torch/sentiment.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/buffer.h"
#include "base/error.h"
#include "model/torch/counted_flow.h"
#include "model/torch/projection.h"
#include "model/torch/sequences.h"
#include "optim/optimizer.h"

namespace paceline {
namespace {

// Texts of different lengths; the label is whether token 5 is among them.
class MadeUpTexts {
 public:
  explicit MadeUpTexts(std::size_t count) : rows_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t length = 1 + static_cast<std::int32_t>(i % 6);
      rows_[i].push_back(length);
      for (std::int32_t t = 0; t < length; ++t) {
        rows_[i].push_back(6 + static_cast<std::int32_t>(i * 7 + static_cast<std::size_t>(t)) % 10);
      }
      if (i % 2 == 0) rows_[i][1 + i % static_cast<std::size_t>(length)] = 5;
    }
  }
  Batch batch(std::size_t begin, std::size_t end) const {
    Batch batch;
    for (std::size_t i = begin; i < end; ++i) {
      batch.examples.push_back(i);
      batch.rows.push_back(reinterpret_cast<const std::uint8_t*>(rows_[i].data()));
      batch.labels.push_back(i % 2 == 0);
      batch.weights.push_back(i % 2 == 0 ? 2.0f : 1.0f);
      batch.weight += batch.weights.back();
    }
    return batch;
  }

 private:
  std::vector<std::vector<std::int32_t>> rows_;
};

ModelSetup sentiment_setup(RnnKind rnn = RnnKind::kFused) {
  ModelSetup setup;
  setup.options.name = "sentiment";
  setup.options.embedding = 8;
  setup.options.hidden = 12;
  setup.options.rnn = rnn;
  setup.data.name = "texts";
  setup.data.classes = 2;
  setup.data.text = {1, 10, 20};
  setup.seed = 3;
  return setup;
}

struct Trained {
  explicit Trained(const Model& model)
      : parameters(Buffer::floats(model.layout().size)),
        gradient(Buffer::floats(model.layout().size)) {
    model.initialize(1, parameters.as_floats());
  }
  Buffer parameters;
  Buffer gradient;
};

TEST(Sentiment, GradientIsTheSumOverAnyCutOfTheBatch) {
  Sentiment model(sentiment_setup());
  Trained whole(model);
  Trained part(model);
  const MadeUpTexts texts(11);
  CountedFlow flow;
  const Loss loss = model.gradient(texts.batch(0, 11), whole.parameters.as_floats(),
                                   whole.gradient.as_floats(), flow);
  EXPECT_EQ(flow.announced, model.layout().size);
  Loss sum;
  std::vector<float> total(model.layout().size);
  for (const auto& [begin, end] : {std::pair{0, 3}, {3, 4}, {4, 11}}) {
    sum += model.gradient(texts.batch(begin, end), part.parameters.as_floats(),
                          part.gradient.as_floats(), flow);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += part.gradient.as_floats()[i];
  }
  EXPECT_NEAR(loss.sum, sum.sum, 1e-4);
  EXPECT_DOUBLE_EQ(loss.weight, 17);
  EXPECT_EQ(loss.correct, sum.correct);
  EXPECT_EQ(loss.positives.there, 6U);
  for (std::size_t i = 0; i < total.size(); ++i) {
    ASSERT_NEAR(total[i], whole.gradient.as_floats()[i], 1e-5) << i;
  }
}

TEST(Sentiment, ReadsNoParameterAfterItsGradient) {
  for (const RnnKind rnn : {RnnKind::kFused, RnnKind::kStep}) {
    ModelSetup setup = sentiment_setup();
    setup.options.rnn = rnn;
    Sentiment model(setup);
    expect_no_parameter_is_read_after_its_gradient(model, MadeUpTexts(5).batch(0, 5));
  }
}

TEST(Sentiment, StepByStepIsTheSameModel) {
  Sentiment fused(sentiment_setup());
  Sentiment step(sentiment_setup(RnnKind::kStep));
  Trained a(fused);
  Trained b(step);
  const MadeUpTexts texts(7);
  NoFlow flow;
  const Loss one =
      fused.gradient(texts.batch(0, 7), a.parameters.as_floats(), a.gradient.as_floats(), flow);
  const Loss other =
      step.gradient(texts.batch(0, 7), b.parameters.as_floats(), b.gradient.as_floats(), flow);
  EXPECT_NEAR(one.sum, other.sum, 1e-4);
  for (std::size_t i = 0; i < fused.layout().size; ++i) {
    ASSERT_NEAR(a.gradient.as_floats()[i], b.gradient.as_floats()[i], 1e-5) << i;
  }
}

TEST(Sentiment, Learns) {
  Sentiment model(sentiment_setup());
  Trained trained(model);
  const MadeUpTexts texts(60);
  OptimizerOptions options;
  options.kind = OptimizerKind::kAdam;
  const Optimizer optimizer(options);
  Buffer state = Buffer::floats(optimizer.slots() * model.layout().size);
  const GroupRange all{{0, model.layout().size}, 1, 1};
  NoFlow flow;
  for (std::uint64_t step = 1; step <= 150; ++step) {
    const Loss loss = model.gradient(texts.batch(0, 60), trained.parameters.as_floats(),
                                     trained.gradient.as_floats(), flow);
    optimizer.apply({0.02, 1 / loss.weight, step}, std::span(&all, 1), trained.gradient.as_floats(),
                    trained.parameters.as_floats(), trained.parameters.as_floats(),
                    state.as_floats(), state.as_floats());
  }
  const Loss tested = model.evaluate(texts.batch(0, 60), trained.parameters.as_floats());
  EXPECT_GT(tested.accuracy(), 0.95);
  EXPECT_GT(tested.f1(), 0.95);
  std::vector<float> probabilities(2 * 60);
  model.predict(texts.batch(0, 60), trained.parameters.as_floats(), probabilities);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < 60; ++i) right += (probabilities[2 * i + 1] > 0.5f) == (i % 2 == 0);
  EXPECT_EQ(right, tested.correct);
}

TEST(Sentiment, RefusesDataThatAreNoTexts) {
  ModelSetup images = sentiment_setup();
  images.data.text = {};
  EXPECT_THROW(Sentiment model(images), ConfigError);
}

TEST(Sentiment, RefusesTokensBeyondTheVocabulary) {
  ModelSetup small = sentiment_setup();
  small.data.text.vocabulary = 7;
  Sentiment model(small);
  Trained trained(model);
  NoFlow flow;
  const MadeUpTexts texts(3);
  EXPECT_THROW(model.gradient(texts.batch(0, 3), trained.parameters.as_floats(),
                              trained.gradient.as_floats(), flow),
               DataError);
}

TEST(Projection, HasTheLossAndGradientsOfLibtorch) {
  torch::manual_seed(1);
  FlatTensors tensors;
  const Projection layer(tensors, "projection", 6, 9);
  Buffer parameters = Buffer::floats(tensors.layout().size);
  Buffer gradient = Buffer::floats(tensors.layout().size);
  layer.initialize(1, parameters.as_floats());
  tensors.bind(parameters.as_floats(), gradient.as_floats());
  const Batch batch;
  CountedFlow flow;
  const Pass pass{tensors, batch, flow, true, 1};
  torch::Tensor states = torch::randn({5, 6}, torch::requires_grad());
  const torch::Tensor words = torch::tensor({0, 8, 3, 3, 1}, torch::kInt64);
  const Projection::Result result = layer.entropy(states, words, pass);
  result.loss.backward();
  EXPECT_EQ(flow.announced, tensors.layout().size);
  const torch::Tensor state_gradient = states.grad().clone();
  states.mutable_grad() = torch::Tensor();
  torch::Tensor weight = tensors.value(0).clone().requires_grad_();
  torch::Tensor bias = tensors.value(1).clone().requires_grad_();
  const torch::Tensor scores = at::linear(states, weight, bias);
  const torch::Tensor loss = at::cross_entropy_loss(scores, words, {}, at::Reduction::Sum);
  loss.backward();
  EXPECT_NEAR(result.loss.item<double>(), loss.item<double>(), 1e-4);
  EXPECT_TRUE(torch::allclose(state_gradient, states.grad(), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(tensors.gradient(0), weight.grad(), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(tensors.gradient(1), bias.grad(), 1e-4, 1e-5));
}

}  // namespace
}  // namespace paceline

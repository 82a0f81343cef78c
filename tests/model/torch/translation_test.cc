#include "model/torch/translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/random.h"
#include "model/torch/counted_flow.h"
#include "optim/optimizer.h"

namespace paceline {
namespace {

constexpr std::int32_t kWords = 6;
constexpr std::int32_t kVocabulary = Vocabulary::kFirstWord + kWords;

// The "translation" of a sentence is the sentence backwards.
class Sentences {
 public:
  explicit Sentences(std::size_t count) : rows_(count) {
    Random random(5);
    for (auto& row : rows_) {
      std::vector<std::int32_t> words(1 + random.below(3));
      for (std::int32_t& word : words) {
        word = Vocabulary::kFirstWord + static_cast<std::int32_t>(random.below(kWords));
      }
      for (int side = 0; side < 2; ++side) {
        row.push_back(static_cast<std::int32_t>(words.size()));
        row.insert(row.end(), words.begin(), words.end());
        std::reverse(words.begin(), words.end());
      }
    }
  }
  Batch batch(std::size_t begin, std::size_t end) const {
    Batch batch;
    for (std::size_t i = begin; i < end; ++i) {
      batch.examples.push_back(i);
      batch.rows.push_back(reinterpret_cast<const std::uint8_t*>(rows_[i].data()));
      batch.weights.push_back(static_cast<float>(rows_[i][0] + 1));
      batch.weight += batch.weights.back();
    }
    batch.labels.resize(batch.rows.size());
    return batch;
  }

 private:
  std::vector<std::vector<std::int32_t>> rows_;
};

ModelSetup translation_setup() {
  ModelSetup setup;
  setup.options.name = "translation";
  setup.options.embedding = 12;
  setup.options.hidden = 24;
  setup.data.name = "sentences";
  setup.data.text = {2, 10, kVocabulary};
  return setup;
}

TEST(Translation, GradientIsTheSumOverAnyCutOfTheBatch) {
  Translation model(translation_setup());
  const std::size_t size = model.layout().size;
  Buffer parameters = Buffer::floats(size);
  Buffer gradient = Buffer::floats(size);
  model.initialize(1, parameters.as_floats());
  const Sentences sentences(9);
  CountedFlow flow;
  const Loss loss =
      model.gradient(sentences.batch(0, 9), parameters.as_floats(), gradient.as_floats(), flow);
  EXPECT_EQ(flow.announced, size);
  const std::vector<float> whole(gradient.as_floats().begin(), gradient.as_floats().end());
  std::vector<float> total(size);
  Loss sum;
  for (const auto& [begin, end] : {std::pair{0, 2}, {2, 3}, {3, 9}}) {
    sum += model.gradient(sentences.batch(begin, end), parameters.as_floats(), gradient.as_floats(),
                          flow);
    for (std::size_t i = 0; i < size; ++i) total[i] += gradient.as_floats()[i];
  }
  EXPECT_NEAR(loss.sum, sum.sum, 1e-3);
  EXPECT_EQ(loss.predictions, sum.predictions);
  EXPECT_DOUBLE_EQ(loss.weight, static_cast<double>(loss.predictions));
  for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(whole[i], total[i], 1e-4) << i;
}

TEST(Translation, ReadsNoParameterAfterItsGradient) {
  for (const RnnKind rnn : {RnnKind::kFused, RnnKind::kStep}) {
    ModelSetup setup = translation_setup();
    setup.options.rnn = rnn;
    Translation model(setup);
    expect_no_parameter_is_read_after_its_gradient(model, Sentences(5).batch(0, 5));
  }
}

TEST(Translation, LearnsToTurnSentencesAround) {
  Translation model(translation_setup());
  const std::size_t size = model.layout().size;
  Buffer parameters = Buffer::floats(size);
  Buffer gradient = Buffer::floats(size);
  model.initialize(1, parameters.as_floats());
  OptimizerOptions options;
  options.kind = OptimizerKind::kAdam;
  const Optimizer optimizer(options);
  Buffer state = Buffer::floats(optimizer.slots() * size);
  const GroupRange all{{0, size}, 1, 1};
  const Sentences sentences(40);
  const Batch batch = sentences.batch(0, 40);
  NoFlow flow;
  for (std::uint64_t step = 1; step <= 400; ++step) {
    const Loss loss = model.gradient(batch, parameters.as_floats(), gradient.as_floats(), flow);
    optimizer.apply({0.01, 1 / loss.weight, step}, std::span(&all, 1), gradient.as_floats(),
                    parameters.as_floats(), parameters.as_floats(), state.as_floats(),
                    state.as_floats());
  }
  EXPECT_GT(model.evaluate(batch, parameters.as_floats()).accuracy(), 0.95);
  const auto answers = model.translate(batch, parameters.as_floats(), 8);
  std::size_t right = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto truth = sequence_of(batch.rows[i], 1);
    right += std::ranges::equal(answers[i], truth) ? 1 : 0;
  }
  EXPECT_GE(right, 34U);
  for (const auto& answer : model.translate(batch, parameters.as_floats(), 1)) {
    EXPECT_LE(answer.size(), 1U);
  }
}

TEST(Translation, RefusesDataThatAreNoPairs) {
  ModelSetup one = translation_setup();
  one.data.text.sequences = 1;
  EXPECT_THROW(Translation model(one), ConfigError);
}

}  // namespace
}  // namespace paceline

#include "model/torch/alexnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/buffer.h"
#include "base/error.h"
#include "data/synthetic.h"
#include "model/torch/counted_flow.h"

namespace paceline {
namespace {

ModelSetup setup(const DatasetInfo& data, std::uint64_t seed) {
  ModelSetup made;
  made.options.name = "alexnet";
  made.data = data;
  made.seed = seed;
  return made;
}

class AlexNetTest : public ::testing::Test {
 protected:
  // The network wants 63 pixels at least: with 71, the last pooling leaves one.
  AlexNetTest()
      : data_(make_synthetic({.image = 71, .classes = 5}, {0, 6}, "images")),
        model_(setup(data_->info(), 3)),
        parameters_(Buffer::floats(model_.layout().size)),
        gradient_(Buffer::floats(model_.layout().size)) {
    model_.initialize(1, parameters_.as_floats());
  }
  Batch batch(std::uint64_t first, std::uint64_t count) const {
    Batch batch;
    batch.examples.resize(count);
    std::iota(batch.examples.begin(), batch.examples.end(), first);
    data_->read(batch.examples, batch);
    return batch;
  }
  Loss gradient(std::uint64_t first, std::uint64_t count) {
    return model_.gradient(batch(first, count), parameters_.as_floats(), gradient_.as_floats(),
                           flow_);
  }

  std::unique_ptr<Dataset> data_;
  AlexNet model_;
  Buffer parameters_;
  Buffer gradient_;
  NoFlow flow_;
};

TEST_F(AlexNetTest, HasItsSixtyOneMillionParameters) {
  DatasetInfo imagenet = data_->info();
  imagenet.classes = 1000;
  EXPECT_EQ(AlexNet(setup(imagenet, 1)).layout().size, 61'100'840U);
}

TEST_F(AlexNetTest, TheGradientIsASumHoweverItIsCut) {
  const Loss whole = gradient(0, 6);
  const std::vector<float> expected(gradient_.as_floats().begin(), gradient_.as_floats().end());
  std::vector<float> sum(expected.size());
  Loss parts;
  for (const auto& [first, count] : {std::pair(0, 1), {1, 3}, {4, 2}}) {
    parts += gradient(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient_.as_floats()[i];
  }
  EXPECT_NEAR(parts.sum, whole.sum, 1e-4);
  EXPECT_EQ(parts.examples, 6U);
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    error += (sum[i] - expected[i]) * (sum[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  EXPECT_GT(norm, 0);
  EXPECT_LT(std::sqrt(error / norm), 1e-5);
}

TEST_F(AlexNetTest, AwaitsEveryFloatBeforeItAnnouncesItsGradient) {
  struct Once final : public Flow {
    void await(Range floats) override { awaited += floats.size(); }
    void ready(Range floats) override {
      EXPECT_GT(awaited, 0U);
      EXPECT_EQ(floats.end, next);  // from the last layer to the first, without gaps
      next = floats.begin;
    }
    std::uint64_t awaited = 0;
    std::uint64_t next = 0;
  } flow;
  flow.next = model_.layout().size;
  model_.gradient(batch(0, 2), parameters_.as_floats(), gradient_.as_floats(), flow);
  EXPECT_EQ(flow.awaited, model_.layout().size);
  EXPECT_EQ(flow.next, 0U);
}

TEST_F(AlexNetTest, ReadsNoParameterAfterItsGradient) {
  expect_no_parameter_is_read_after_its_gradient(model_, batch(0, 2));
}

TEST_F(AlexNetTest, PredictsProbabilities) {
  std::vector<float> probabilities(6 * 5);
  model_.predict(batch(0, 6), parameters_.as_floats(), probabilities);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(std::accumulate(&probabilities[5 * i], &probabilities[5 * i] + 5, 0.0), 1, 1e-5);
  }
  const Loss loss = model_.evaluate(batch(0, 6), parameters_.as_floats());
  EXPECT_EQ(loss.examples, 6U);
  EXPECT_NEAR(loss.mean(), std::log(5), 0.1);  // it knows nothing yet
}

TEST_F(AlexNetTest, RefusesDataItCannotSee) {
  DatasetInfo data = data_->info();
  data.image = {};
  EXPECT_THROW(AlexNet(setup(data, 1)), ConfigError);
  data.image = {28, 28, 1};
  try {
    AlexNet(setup(data, 1));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("at least 63 × 63 pixels"));
  }
}

}  // namespace
}  // namespace paceline

#include "model/torch/image_quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/buffer.h"
#include "base/error.h"
#include "base/temp_dir.h"
#include "counted_flow.h"
#include "data/synthetic.h"

namespace paceline {
namespace {

class ImageQualityTest : public ::testing::Test {
 protected:
  ImageQualityTest()
      : data_(make_synthetic({.image = 21, .classes = 5}, {0, 6}, "images")),
        all_(setup(TrainedPart::kAll)),
        top_(setup(TrainedPart::kTop)),
        parameters_(all_.layout().size),
        gradient_(all_.layout().size) {
    all_.initialize(1, parameters_);
  }
  ModelSetup setup(TrainedPart part) const {
    ModelSetup made;
    made.options.name = "image-quality";
    made.options.train = part;
    made.data = data_->info();
    made.seed = 3;
    made.cache = dir_.path();
    return made;
  }
  Batch batch(std::uint64_t first, std::uint64_t count) const {
    Batch batch;
    batch.examples.resize(count);
    std::iota(batch.examples.begin(), batch.examples.end(), first);
    data_->read(batch.examples, batch);
    return batch;
  }
  // The part of the network's parameters that is frozen, and the rest.
  std::span<const float> backbone() const {
    return std::span(parameters_).first(top_.frozen().size);
  }
  std::span<const float> head() const { return std::span(parameters_).last(top_.layout().size); }

  // The gradient of the whole batch against the sum over three parts of it.
  void expect_sum(Model& model, std::span<const float> parameters) {
    std::vector<float> whole(parameters.size()), part(parameters.size()), sum(parameters.size());
    const Loss loss = model.gradient(batch(0, 6), parameters, whole, flow_);
    Loss parts;
    for (const auto& [first, count] : {std::pair(0, 1), {1, 3}, {4, 2}}) {
      parts += model.gradient(
          batch(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count)), parameters,
          part, flow_);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    EXPECT_NEAR(parts.sum, loss.sum, 1e-4);
    EXPECT_EQ(parts.examples, 6U);
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      error += (sum[i] - whole[i]) * (sum[i] - whole[i]);
      norm += whole[i] * whole[i];
    }
    EXPECT_GT(norm, 0);
    EXPECT_LT(std::sqrt(error / norm), 1e-5);
  }

  TempDir dir_;
  std::unique_ptr<Dataset> data_;
  ImageQuality all_;
  ImageQuality top_;
  std::vector<float> parameters_;
  std::vector<float> gradient_;
  NoFlow flow_;
};

TEST_F(ImageQualityTest, TheGradientIsASumHoweverItIsCut) {
  expect_sum(all_, parameters_);
  top_.freeze(backbone());
  expect_sum(top_, head());
}

TEST_F(ImageQualityTest, TheGradientIsTheSlopeOfTheLoss) {
  all_.gradient(batch(0, 4), parameters_, gradient_, flow_);
  // Along the gradient of each tensor, where the slope is steepest.
  for (const Tensor& tensor : all_.layout().tensors) {
    double norm = 0;
    for (std::uint64_t i = tensor.floats.begin; i < tensor.floats.end; ++i) {
      norm += gradient_[i] * gradient_[i];
    }
    norm = std::sqrt(norm);
    ASSERT_GT(norm, 0) << tensor.name;
    const auto moved = [&](double step) {
      std::vector<float> values = parameters_;
      for (std::uint64_t i = tensor.floats.begin; i < tensor.floats.end; ++i) {
        values[i] += static_cast<float>(step * gradient_[i] / norm);
      }
      return all_.evaluate(batch(0, 4), values).sum;
    };
    constexpr double kStep = 2e-3;
    EXPECT_NEAR((moved(kStep) - moved(-kStep)) / (2 * kStep) / norm, 1, 0.05) << tensor.name;
  }
}

TEST_F(ImageQualityTest, AnnouncesEveryFloatFromTheLastLayerToTheFirst) {
  struct Backwards final : public Flow {
    void await(Range floats) override { awaited += floats.size(); }
    void ready(Range floats) override {
      EXPECT_EQ(floats.end, next);
      next = floats.begin;
    }
    std::uint64_t awaited = 0;
    std::uint64_t next = 0;
  } flow;
  flow.next = all_.layout().size;
  all_.gradient(batch(0, 2), parameters_, gradient_, flow);
  EXPECT_EQ(flow.awaited, all_.layout().size);
  EXPECT_EQ(flow.next, 0U);
}

TEST_F(ImageQualityTest, ReadsNoParameterAfterItsGradient) {
  expect_no_parameter_is_read_after_its_gradient(all_, batch(0, 3));
}

TEST_F(ImageQualityTest, WithTheTopAloneTheRestIsFrozenAndTheSame) {
  EXPECT_EQ(top_.layout().size, 128U * 5 + 5);
  EXPECT_EQ(top_.layout().size + top_.frozen().size, all_.layout().size);
  EXPECT_EQ(all_.frozen().size, 0U);
  top_.freeze(backbone());
  const Loss whole = all_.gradient(batch(0, 6), parameters_, gradient_, flow_);
  std::vector<float> own(top_.layout().size);
  CountedFlow counted;
  const Loss loss = top_.gradient(batch(0, 6), head(), own, counted);
  EXPECT_NEAR(loss.sum, whole.sum, 1e-4);
  EXPECT_EQ(counted.announced, own.size());
  const auto expected = std::span(gradient_).last(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(own[i], expected[i], 1e-4);
  EXPECT_NEAR(top_.evaluate(batch(0, 6), head()).sum, whole.sum, 1e-4);
}

// With features in their place, the images themselves are no longer looked at.
TEST_F(ImageQualityTest, FeaturesAreComputedOnce) {
  top_.freeze(backbone());
  std::vector<float> first(top_.layout().size), second(first), other(first);
  top_.gradient(batch(0, 6), head(), first, flow_);
  Batch black = batch(0, 6);
  const std::vector<std::uint8_t> zeros(black.width);
  for (auto& row : black.rows) row = zeros.data();
  top_.gradient(black, head(), second, flow_);
  EXPECT_EQ(first, second);
  // Another process of the run finds them, too; another run does not.
  ImageQuality again(setup(TrainedPart::kTop));
  again.freeze(backbone());
  again.gradient(black, head(), second, flow_);
  EXPECT_EQ(first, second);
  ModelSetup elsewhere = setup(TrainedPart::kTop);
  elsewhere.cache.clear();
  ImageQuality alone(elsewhere);
  alone.freeze(backbone());
  alone.gradient(black, head(), other, flow_);
  EXPECT_NE(first, other);
  // Those of the test part are others, and predictions are of anything.
  std::vector<float> seen(6 * 5), unseen(6 * 5);
  top_.predict(batch(0, 6), head(), seen);
  top_.predict(black, head(), unseen);
  EXPECT_NE(seen, unseen);
  const double tested = top_.evaluate(batch(0, 6), head()).sum;
  EXPECT_EQ(top_.evaluate(black, head()).sum, tested);
}

TEST_F(ImageQualityTest, AnExampleThatWeighsNothingCountsNowhere) {
  Batch some = batch(0, 6);
  some.weights = {1, 1, 0, 1, 1, 1};
  some.weight = 5;
  const Loss loss = all_.gradient(some, parameters_, gradient_, flow_);
  EXPECT_EQ(loss.predictions, 5U);
  EXPECT_EQ(loss.weight, 5);
  EXPECT_LE(loss.correct, 5U);
  std::vector<float> rest(gradient_.size()), more(gradient_.size());
  const Loss left = all_.gradient(batch(0, 2), parameters_, rest, flow_);
  const Loss right = all_.gradient(batch(3, 3), parameters_, more, flow_);
  EXPECT_NEAR(loss.sum, left.sum + right.sum, 1e-4);
  EXPECT_EQ(loss.correct, left.correct + right.correct);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    ASSERT_NEAR(gradient_[i], rest[i] + more[i], 1e-3);
  }
}

TEST_F(ImageQualityTest, RefusesDataItCannotSee) {
  ModelSetup other = setup(TrainedPart::kAll);
  other.data.image = {8, 8, 3};
  EXPECT_THROW(ImageQuality{other}, ConfigError);
  other.data.image = {};
  EXPECT_THROW(ImageQuality{other}, ConfigError);
}

}  // namespace
}  // namespace paceline

#include "model/linear/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "model/byte_batch.h"
#include "model/targets.h"

namespace paceline {
namespace {

struct Shape {
  std::size_t width;
  std::int32_t classes;
  std::size_t batch;
};

// The last two take more than one pass over the batch.
const Shape kShapes[] = {{1, 2, 1},  {7, 3, 4},    {8, 10, 10},  {50, 13, 33},
                         {29, 2, 1}, {40, 5, 256}, {33, 3, 257}, {20, 4, 700}};

// The same mathematics in double precision, one number at a time.
class Reference {
 public:
  Reference(const Batch& batch, std::size_t classes, double scale)
      : batch_(batch), classes_(classes), scale_(scale) {}

  std::vector<double> probabilities(std::size_t e, const std::vector<double>& parameters) const {
    std::vector<double> logits(classes_);
    for (std::size_t c = 0; c < classes_; ++c) {
      logits[c] = parameters[classes_ * batch_.width + c];
      for (std::size_t i = 0; i < batch_.width; ++i) {
        logits[c] += parameters[c * batch_.width + i] * scale_ * batch_.rows[e][i];
      }
    }
    double sum = 0;
    for (double& logit : logits) sum += logit = std::exp(logit);
    for (double& logit : logits) logit /= sum;
    return logits;
  }

  double loss(const std::vector<double>& parameters) const {
    double sum = 0;
    for (std::size_t e = 0; e < batch_.size(); ++e) {
      sum -= std::log(probabilities(e, parameters)[static_cast<std::size_t>(batch_.labels[e])]);
    }
    return sum;
  }

  // By central differences: independent of any formula for the derivative.
  double slope(std::vector<double> parameters, std::size_t at) const {
    constexpr double kStep = 1e-5;
    parameters[at] += kStep;
    const double above = loss(parameters);
    parameters[at] -= 2 * kStep;
    return (above - loss(parameters)) / (2 * kStep);
  }

 private:
  const Batch& batch_;
  std::size_t classes_;
  double scale_;
};

Batch batch_of(const Shape& shape, std::uint64_t seed = 1) {
  return byte_batch(
      {.size = shape.batch, .width = shape.width, .classes = shape.classes, .seed = seed});
}

SoftmaxRegression model_of(const Shape& shape) {
  return {shape.width, static_cast<std::size_t>(shape.classes)};
}

std::vector<float> gradient_of(SoftmaxRegression& model, const Batch& batch,
                               const std::vector<float>& parameters) {
  NoFlow flow;
  std::vector<float> gradient(parameters.size(), 1e30f);
  model.gradient(batch, parameters, gradient, flow);
  return gradient;
}

// Rows [first, first + size) of `batch`.
Batch part(const Batch& batch, std::size_t first, std::size_t size) {
  Batch result;
  result.width = batch.width;
  result.weight = static_cast<double>(size);
  result.rows.assign(&batch.rows[first], &batch.rows[first] + size);
  result.labels.assign(&batch.labels[first], &batch.labels[first] + size);
  return result;
}

TEST(SoftmaxRegression, LaysOutAWeightAndABias) {
  const SoftmaxRegression model(784, 10);
  const Layout& layout = model.layout();
  EXPECT_EQ(layout.size, 7850u);
  ASSERT_EQ(layout.tensors.size(), 2u);
  EXPECT_EQ(layout.tensors[0].name, "softmax.weight");
  EXPECT_THAT(layout.tensors[0].shape, testing::ElementsAre(10, 784));
  EXPECT_EQ(layout.tensors[0].floats, (Range{0, 7840}));
  EXPECT_EQ(layout.tensors[1].name, "softmax.bias");
  EXPECT_THAT(layout.tensors[1].shape, testing::ElementsAre(10));
  EXPECT_EQ(layout.tensors[1].floats, (Range{7840, 7850}));
}

TEST(SoftmaxRegression, StartsAtZeroWhereEveryClassIsEquallyProbable) {
  const Shape shape{20, 4, 3};
  SoftmaxRegression model = model_of(shape);
  std::vector<float> parameters(model.layout().size, 5);
  model.initialize(42, parameters);
  EXPECT_THAT(parameters, testing::Each(0.0f));
  const Loss loss = model.evaluate(batch_of(shape), parameters);
  EXPECT_NEAR(loss.mean(), std::log(4.0), 1e-6);
}

TEST(SoftmaxRegression, GradientMatchesFiniteDifferences) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.width << "x" << shape.classes << ", " << shape.batch);
    const Batch batch = batch_of(shape);
    SoftmaxRegression model = model_of(shape);
    const std::vector<float> parameters = random_floats(model.layout().size, 0.3, 5);
    const std::vector<float> gradient = gradient_of(model, batch, parameters);
    const Reference reference(batch, static_cast<std::size_t>(shape.classes), 1.0f / 255.0f);
    const std::vector<double> exact(parameters.begin(), parameters.end());
    const double tolerance = 2e-6 * static_cast<double>(shape.batch) + 1e-6;
    for (std::size_t i = 0; i < gradient.size(); i += 1 + gradient.size() / 40) {
      EXPECT_NEAR(gradient[i], reference.slope(exact, i), tolerance) << "float " << i;
    }
    EXPECT_NEAR(gradient.back(), reference.slope(exact, gradient.size() - 1), tolerance);
  }
}

TEST(SoftmaxRegression, LossAndProbabilitiesMatchTheReference) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.width << "x" << shape.classes << ", " << shape.batch);
    const auto classes = static_cast<std::size_t>(shape.classes);
    const Batch batch = batch_of(shape);
    SoftmaxRegression model = model_of(shape);
    const std::vector<float> parameters = random_floats(model.layout().size, 0.5, 6);
    const std::vector<double> exact(parameters.begin(), parameters.end());
    const Reference reference(batch, classes, 1.0f / 255.0f);

    std::vector<float> probabilities(batch.size() * classes);
    model.predict(batch, parameters, probabilities);
    std::uint64_t correct = 0;
    for (std::size_t e = 0; e < batch.size(); ++e) {
      const std::vector<double> expected = reference.probabilities(e, exact);
      for (std::size_t c = 0; c < classes; ++c) {
        ASSERT_NEAR(probabilities[e * classes + c], expected[c], 1e-5) << "example " << e;
      }
      const auto guess = std::ranges::max_element(expected) - expected.begin();
      correct += guess == batch.labels[e] ? 1 : 0;
    }
    const Loss loss = model.evaluate(batch, parameters);
    EXPECT_NEAR(loss.sum, reference.loss(exact), 1e-6 * loss.sum + 1e-6);
    EXPECT_EQ(loss.weight, batch.weight);
    EXPECT_EQ(loss.examples, batch.size());
    EXPECT_EQ(loss.correct, correct);
  }
}

TEST(SoftmaxRegression, GradientReportsTheLossThatEvaluateDoes) {
  const Shape shape{50, 10, 300};
  const Batch batch = batch_of(shape);
  SoftmaxRegression model = model_of(shape);
  const std::vector<float> parameters = random_floats(model.layout().size, 0.5, 8);
  std::vector<float> gradient(parameters.size());
  NoFlow flow;
  const Loss trained = model.gradient(batch, parameters, gradient, flow);
  const Loss evaluated = model.evaluate(batch, parameters);
  EXPECT_EQ(trained.sum, evaluated.sum);
  EXPECT_EQ(trained.weight, evaluated.weight);
  EXPECT_EQ(trained.examples, evaluated.examples);
  EXPECT_EQ(trained.correct, evaluated.correct);
}

TEST(SoftmaxRegression, GradientOfABatchIsTheSumOverItsParts) {
  for_each_target([](const char* target) {
    const Shape shape{100, 10, 60};
    const Batch batch = batch_of(shape);
    SoftmaxRegression model = model_of(shape);
    const std::vector<float> parameters = random_floats(model.layout().size, 0.2, 9);
    const std::vector<float> whole = gradient_of(model, batch, parameters);
    std::vector<double> sum(whole.size());
    std::size_t first = 0;
    for (const std::size_t size : {1u, 7u, 32u, 20u}) {
      const std::vector<float> some = gradient_of(model, part(batch, first, size), parameters);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += some[i];
      first += size;
    }
    ASSERT_EQ(first, batch.size());
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(whole[i], sum[i], 2e-5) << target;
  });
}

TEST(SoftmaxRegression, GradientHasTheSameBitsWhereverRowsLieAndWhateverWasComputedBefore) {
  const Shape shape{101, 10, 70};
  SoftmaxRegression model = model_of(shape);
  const std::vector<float> parameters = random_floats(model.layout().size, 0.2, 10);
  std::vector<float> first;
  for (const std::size_t offset : {0u, 1u, 5u, 32u}) {
    const Batch batch =
        byte_batch({.size = shape.batch, .width = 101, .classes = 10, .offset = offset});
    const std::vector<float> gradient = gradient_of(model, batch, parameters);
    if (first.empty()) first = gradient;
    EXPECT_EQ(gradient, first) << "offset " << offset;
    gradient_of(model, batch_of({101, 10, 300}, 77), parameters);
  }
}

TEST(SoftmaxRegression, GradientOfNoExamplesIsZero) {
  SoftmaxRegression model(10, 3);
  const std::vector<float> parameters(33, 1);
  EXPECT_THAT(gradient_of(model, Batch{}, parameters), testing::Each(0.0f));
}

class RecordingFlow final : public Flow {
 public:
  void await(Range floats) override { calls.push_back(describe("await", floats)); }
  void ready(Range floats) override { calls.push_back(describe("ready", floats)); }
  std::vector<std::string> calls;

 private:
  static std::string describe(const char* verb, Range floats) {
    return fmt::format("{} {}-{}", verb, floats.begin, floats.end);
  }
};

TEST(SoftmaxRegression, AwaitsAllParametersAndAnnouncesTheWholeGradientOnce) {
  const Shape shape{9, 3, 600};
  SoftmaxRegression model = model_of(shape);
  const std::vector<float> parameters(model.layout().size);
  std::vector<float> gradient(parameters.size());
  RecordingFlow flow;
  model.gradient(batch_of(shape), parameters, gradient, flow);
  EXPECT_THAT(flow.calls, testing::ElementsAre("await 0-30", "ready 0-30"));
}

TEST(SoftmaxRegression, RefusesLabelsItHasNoClassFor) {
  for (const std::int32_t label : {-1, 3}) {
    SoftmaxRegression model(9, 3);
    Batch batch = batch_of({9, 3, 5});
    batch.labels[4] = label;
    const std::vector<float> parameters(30);
    std::vector<float> gradient(30);
    NoFlow flow;
    EXPECT_THROW(model.gradient(batch, parameters, gradient, flow), DataError);
    EXPECT_THROW(model.evaluate(batch, parameters), DataError);
  }
}

TEST(SoftmaxRegression, RefusesRowsOfAnotherWidthNamingBoth) {
  SoftmaxRegression model(9, 3);
  const std::vector<float> parameters(30);
  try {
    model.evaluate(batch_of({12, 3, 5}), parameters);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("9"), testing::HasSubstr("12")));
  }
}

TEST(SoftmaxRegression, DivergedParametersGiveALossThatIsNotFinite) {
  SoftmaxRegression model(16, 3);
  std::vector<float> parameters(51);
  parameters[20] = NAN;
  const Batch batch = byte_batch({.size = 4, .width = 16, .classes = 3, .zeros = 0});
  EXPECT_FALSE(std::isfinite(model.evaluate(batch, parameters).sum));
}

}  // namespace
}  // namespace paceline

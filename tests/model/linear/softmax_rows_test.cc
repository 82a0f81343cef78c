#include "model/linear/softmax_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/byte_batch.h"
#include "model/targets.h"

namespace paceline {
namespace {

TEST(SoftmaxRows, AgreesWithDoublePrecisionOnEveryInstructionSet) {
  constexpr float kScale = 0.5f;
  for_each_target([&](const char* target) {
    for (const std::size_t classes : {1u, 2u, 8u, 10u, 13u, 33u}) {
      SCOPED_TRACE(testing::Message() << target << " classes " << classes);
      const std::vector<float> logits = random_floats(classes, 30, classes);
      const std::vector<float> bias = random_floats(classes, 1, 7);
      LinearScratch scratch(4, classes);
      std::ranges::copy(logits, scratch.outputs(0));
      const std::int32_t label = static_cast<std::int32_t>(classes / 2);
      SoftmaxTerms terms[1];
      softmax_rows({&label, 1}, kScale, bias, scratch, terms);

      double sum = 0;
      std::vector<double> powers;
      for (std::size_t c = 0; c < classes; ++c) {
        powers.push_back(std::exp(double{kScale} * logits[c] + bias[c]));
        sum += powers.back();
      }
      for (std::size_t c = 0; c < classes; ++c) {
        EXPECT_NEAR(scratch.outputs(0)[c], powers[c] / sum, 1e-5 * powers[c] / sum + 1e-30);
      }
      const double loss = -std::log(powers[classes / 2] / sum);
      EXPECT_NEAR(std::log(terms[0].sum) + terms[0].gap, loss, 1e-5 * (1 + loss));
    }
  });
}

// Leaves of one call must not reach the next.
TEST(SoftmaxRows, SpreadsWhatIsNotANumberButForgetsItAfterwards) {
  const std::int32_t label = 0;
  const std::vector<float> bias(10);
  for_each_target([&](const char* target) {
    for (const std::size_t bad : {0u, 5u, 9u}) {
      for (const float value : {NAN, INFINITY}) {
        SCOPED_TRACE(testing::Message() << target << " " << value << " at " << bad);
        LinearScratch scratch(8, 10);
        SoftmaxTerms terms[1];
        scratch.outputs(0)[bad] = value;
        softmax_rows({&label, 1}, 1, bias, scratch, terms);
        EXPECT_TRUE(std::isnan(std::log(terms[0].sum) + terms[0].gap));
        EXPECT_FALSE(terms[0].correct);

        std::fill_n(scratch.outputs(0), 10, 0.0f);
        softmax_rows({&label, 1}, 1, bias, scratch, terms);
        EXPECT_NEAR(terms[0].sum, 10, 1e-5);
        EXPECT_EQ(terms[0].gap, 0);
      }
    }
  });
}

TEST(SoftmaxRows, SurvivesLogitsFarApart) {
  const std::vector<float> bias = {-3e38f, 3e38f, 0};
  const std::int32_t labels[] = {1, 0};
  LinearScratch scratch(8, 3);
  SoftmaxTerms terms[2];
  softmax_rows(labels, 1, bias, scratch, terms);
  EXPECT_EQ(scratch.outputs(0)[0], 0);
  EXPECT_EQ(scratch.outputs(0)[1], 1);
  EXPECT_EQ(terms[0].sum, 1);
  EXPECT_TRUE(terms[0].correct);
  EXPECT_FALSE(terms[1].correct);
}

TEST(SoftmaxRows, CountsTheLowestOfEquallyProbableClassesAsTheGuess) {
  std::vector<float> bias(20, -1);
  bias[9] = bias[17] = 2;
  for_each_target([&](const char* target) {
    LinearScratch scratch(8, 20);
    for (std::int32_t label = 0; label < 20; ++label) {
      std::fill_n(scratch.outputs(0), 20, 0.0f);
      SoftmaxTerms terms[1];
      softmax_rows({&label, 1}, 1, bias, scratch, terms);
      EXPECT_EQ(terms[0].correct, label == 9) << target << " label " << label;
    }
  });
}

}  // namespace
}  // namespace paceline

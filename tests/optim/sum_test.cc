#include "optim/sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/byte_batch.h"
#include "model/targets.h"

namespace paceline {
namespace {

const std::size_t kLengths[] = {0, 1, 3, 7, 8, 15, 16, 17, 33, 100, 1000};

TEST(Add, AddsEachElementOnEveryInstructionSet) {
  for_each_target([](const char* target) {
    for (const std::size_t n : kLengths) {
      const std::vector<float> before = random_floats(n, 1, 1);
      const std::vector<float> from = random_floats(n, 1, 2);
      std::vector<float> to = before;
      add(to, from);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(to[i], before[i] + from[i]) << target;
    }
  });
}

TEST(Norm, AgreesWithDoublePrecision) {
  for (const std::size_t n : kLengths) {
    const std::vector<float> values = random_floats(n, 3, 3);
    double expected = 0;
    for (const float value : values) expected += double{value} * value;
    const Norm result = norm(values);
    EXPECT_NEAR(result.sum_of_squares, expected, 1e-13 * expected) << n;
    EXPECT_TRUE(result.finite);
  }
}

TEST(Norm, HasTheSameBitsOnEveryInstructionSetAndAtEveryAlignment) {
  const std::vector<float> values = random_floats(1013, 1, 4);
  const double expected = norm(values).sum_of_squares;
  for_each_target([&](const char* target) {
    for (std::size_t offset = 0; offset < 9; ++offset) {
      std::vector<float> moved(offset + values.size());
      std::ranges::copy(values, moved.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(norm(std::span(moved).subspan(offset)).sum_of_squares, expected) << target;
    }
  });
}

TEST(Norm, FindsWhatIsNotFiniteAnywhere) {
  constexpr std::size_t kFloats = 165;
  for_each_target([](const char* target) {
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      for (std::size_t at = 0; at < kFloats; ++at) {
        std::vector<float> values(kFloats, 1);
        values[at] = bad;
        ASSERT_FALSE(norm(values).finite) << target << " at " << at;
        ASSERT_FALSE(all_finite(values)) << target << " at " << at;
      }
    }
  });
}

TEST(Norm, IsFiniteForTheLargestFloats) {
  const std::vector<float> values(200, std::numeric_limits<float>::max());
  EXPECT_TRUE(all_finite(values));
  const Norm result = norm(values);
  EXPECT_TRUE(result.finite);
  EXPECT_NEAR(result.value() / (3.4028234663852886e38 * std::sqrt(200.0)), 1, 1e-12);
}

TEST(Norm, OfPartsAddsUp) {
  const std::vector<float> values = {3, 4, 12};
  Norm sum = norm(std::span(values).first(2));
  EXPECT_EQ(sum.value(), 5);
  sum += norm(std::span(values).subspan(2));
  EXPECT_EQ(sum.value(), 13);
  EXPECT_TRUE(sum.finite);
  sum += Norm{.sum_of_squares = 0, .finite = false};
  EXPECT_FALSE(sum.finite);
}

TEST(ClipScale, ShortensOnlyWhatIsLongerThanTheLimit) {
  EXPECT_EQ(clip_scale(10, 5), 0.5);
  EXPECT_EQ(clip_scale(5, 5), 1);
  EXPECT_EQ(clip_scale(0, 5), 1);
}

TEST(ClipScale, LeavesEverythingWithoutALimit) {
  EXPECT_EQ(clip_scale(1e30, 0), 1);
}

}  // namespace
}  // namespace paceline

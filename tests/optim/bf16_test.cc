#include "optim/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace paceline {
namespace {

// What rounding to nearest, ties to even, is, in exact arithmetic.
Bf16 nearest(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t below = bits >> 16;
  const std::uint32_t rest = bits & 0xFFFF;
  const bool up = rest > 0x8000 || (rest == 0x8000 && (below & 1) == 1);
  return static_cast<Bf16>(below + (up ? 1 : 0));
}

// Of all magnitudes, in lengths that leave a tail behind whole vectors.
std::vector<float> values(std::size_t count) {
  Random random(count);
  std::vector<float> made;
  while (made.size() < count) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
    if (std::isfinite(value)) made.push_back(value);
  }
  return made;
}

TEST(Bf16, RoundsToTheNearest) {
  for (const std::size_t count : {1, 7, 64, 1003}) {
    const std::vector<float> from = values(count);
    std::vector<Bf16> to(count);
    to_bf16(from, to);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], nearest(from[i])) << from[i];
  }
  const std::vector<float> ties = {std::bit_cast<float>(0x3F808000U),
                                   std::bit_cast<float>(0x3F818000U)};
  std::vector<Bf16> to(2);
  to_bf16(ties, to);
  EXPECT_EQ(to[0], 0x3F80);
  EXPECT_EQ(to[1], 0x3F82);
}

TEST(Bf16, KeepsWhatIsNotFinite) {
  const std::vector<float> from = {INFINITY, -INFINITY, std::nanf(""),
                                   std::bit_cast<float>(0x7F800001U),
                                   std::numeric_limits<float>::max()};
  std::vector<Bf16> halves(from.size());
  std::vector<float> back(from.size());
  to_bf16(from, halves);
  from_bf16(halves, back);
  EXPECT_EQ(back[0], INFINITY);
  EXPECT_EQ(back[1], -INFINITY);
  EXPECT_TRUE(std::isnan(back[2]));
  EXPECT_TRUE(std::isnan(back[3]));
  EXPECT_EQ(back[4], INFINITY);
}

TEST(Bf16, AddsAsFloatsDoAndRounds) {
  for (const std::size_t count : {3, 50}) {
    std::vector<Bf16> a(count), b(2 * count);
    std::vector<float> x(count), y(count);
    to_bf16(values(count), a);
    to_bf16(values(2 * count), b);
    b.resize(count);
    from_bf16(a, x);
    from_bf16(b, y);
    add_bf16(a, a, b);
    for (std::size_t i = 0; i < count; ++i) {
      const float sum = x[i] + y[i];
      if (std::isfinite(sum)) {
        ASSERT_EQ(a[i], nearest(sum));
      }
    }
  }
}

}  // namespace
}  // namespace paceline

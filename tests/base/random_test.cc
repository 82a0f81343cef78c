#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace paceline {
namespace {

std::vector<std::uint64_t> applied(const Permutation& permutation, std::uint64_t size) {
  std::vector<std::uint64_t> image(size);
  for (std::uint64_t i = 0; i < size; ++i) image[i] = permutation.apply(i);
  return image;
}

TEST(Mix, FlipsHalfOfTheBitsForEachInputBit) {
  for (int bit = 0; bit < 64; ++bit) {
    double flipped = 0;
    for (std::uint64_t value = 1; value <= 200; ++value) {
      flipped += std::popcount(mix(value) ^ mix(value ^ std::uint64_t{1} << bit));
    }
    EXPECT_NEAR(flipped / 200, 32, 2) << "bit " << bit;
  }
}

TEST(RandomBits, DependOnEveryCoordinateAndItsPlace) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    seen.insert(random_bits(seed, {}));
    for (std::uint64_t a = 0; a < 10; ++a) {
      seen.insert(random_bits(seed, {a}));
      for (std::uint64_t b = 0; b < 10; ++b) seen.insert(random_bits(seed, {a, b}));
    }
  }
  EXPECT_EQ(seen.size(), 4u * (1 + 10 + 100));
}

TEST(RandomBits, AreNotTheSameWhenSeedAndCoordinateAre) {
  EXPECT_NE(random_bits(1, {1}), random_bits(2, {2}));
  EXPECT_NE(random_bits(1, {2}), random_bits(2, {1}));
}

// Runs on different hosts and versions must draw the same numbers.
TEST(RandomBits, NeverChange) {
  EXPECT_EQ(random_bits(1, {2, 3}), 0xd0734750fde362b3);
  EXPECT_EQ(Random(42).bits(), 0xbdd732262feb6e95);
  EXPECT_EQ(random_bits(42, {}), 0xbdd732262feb6e95);
}

TEST(Random, BelowIsUniform) {
  Random random(5);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  Random random(6);
  double sum = 0, normal_sum = 0, normal_squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(0 <= u && u < 1);
    sum += u;
    const double n = random.normal();
    ASSERT_TRUE(std::isfinite(n));
    normal_sum += n;
    normal_squares += n * n;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.01);
  EXPECT_NEAR(normal_sum / kDraws, 0, 0.02);
  EXPECT_NEAR(normal_squares / kDraws, 1, 0.02);
}

TEST(Permutation, IsABijectionForEverySize) {
  for (const std::uint64_t size : {1, 2, 3, 4, 5, 7, 16, 17, 63, 64, 65, 100, 1000, 4096, 4097}) {
    for (const std::uint64_t seed : {0, 1, 99}) {
      auto image = applied(Permutation(seed, size), size);
      std::ranges::sort(image);
      for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(image[i], i) << size << " " << seed;
    }
  }
}

TEST(Permutation, NeverChanges) {
  const Permutation permutation(9, 60'000);
  const std::vector<std::uint64_t> expected = {27424, 58435, 52973, 59764};
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(permutation.apply(i), expected[i]);
}

TEST(Permutation, DependsOnItsSeed) {
  const auto first = applied(Permutation(1, 1000), 1000);
  EXPECT_EQ(applied(Permutation(1, 1000), 1000), first);
  EXPECT_NE(applied(Permutation(2, 1000), 1000), first);
}

// Pearson's sum over all (index, place) pairs, divided by its expectation.
double unevenness(std::uint64_t size, std::uint64_t seeds) {
  std::vector<double> counts(size * size);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Permutation permutation(seed, size);
    for (std::uint64_t i = 0; i < size; ++i) ++counts[i * size + permutation.apply(i)];
  }
  const double expected = static_cast<double>(seeds) / static_cast<double>(size);
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum / (static_cast<double>(size - 1) * static_cast<double>(size - 1));
}

TEST(Permutation, SendsEachIndexEverywhereEquallyOften) {
  for (const std::uint64_t size : {3, 5, 10, 16, 50}) {
    EXPECT_LT(unevenness(size, 4000), 2.0) << size;
  }
  EXPECT_LT(unevenness(300, 4000), 1.1);
}

TEST(Permutation, OfManyLeavesNeighboursApart) {
  constexpr std::uint64_t kSize = 60'000;
  const Permutation permutation(3, kSize);
  double distance = 0;
  for (std::uint64_t i = 1; i < kSize; ++i) {
    distance += std::abs(static_cast<double>(permutation.apply(i)) -
                         static_cast<double>(permutation.apply(i - 1)));
  }
  // Two independent uniform places are a third of the size apart on average.
  EXPECT_NEAR(distance / (kSize - 1), kSize / 3.0, kSize * 0.01);
}

TEST(Permutation, OfSeveralAtOnceIsThatOfEach) {
  for (const std::uint64_t size : {1U, 5U, 17U, 1000U, 4096U}) {
    const Permutation permutation(4, size);
    const std::vector<std::uint64_t> each = applied(permutation, size);
    for (std::uint64_t first = 0; first < size; first += 1 + size / 3) {
      std::vector<std::uint64_t> some((size - first + 1) / 2);
      permutation.apply(first, some);
      EXPECT_TRUE(
          std::equal(some.begin(), some.end(), each.begin() + static_cast<std::ptrdiff_t>(first)))
          << size << ", from " << first;
    }
  }
}

TEST(Permutation, StaysInsideTheLargestSizes) {
  for (const std::uint64_t size : {(std::uint64_t{1} << 40) + 1, ~std::uint64_t{0}}) {
    const Permutation permutation(7, size);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const std::uint64_t image = permutation.apply(size - 1 - i);
      ASSERT_LT(image, size);
      seen.insert(image);
    }
    EXPECT_EQ(seen.size(), 1000u);
  }
}

TEST(PermutationDeathTest, RefusesAnIndexOutside) {
  EXPECT_DEATH(Permutation(1, 10).apply(10), "index < size_");
  std::vector<std::uint64_t> four(4);
  EXPECT_DEATH(Permutation(1, 10).apply(7, four), "into.size\\(\\)");
}

}  // namespace
}  // namespace paceline

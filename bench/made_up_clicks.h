// Made-up clicks: rows with 39 features of 33,762,577, as many as Criteo's logs have.
//
// 13 fields are numbers, each with a key of its own; 26 are words, whose numbers follow Zipf's law
// with exponent 1.1 and are scattered over the keys of their field. The label is drawn with the
// probability that a hidden logistic model gives, 25 % of them positive. A row is a function of
// its number alone.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace bench {

inline constexpr std::uint64_t kClickSeed = 20'240'131;
inline constexpr std::uint32_t kClickKeys = 33'762'577;
inline constexpr std::size_t kClickNumbers = 13;
inline constexpr std::size_t kClickWords = 26;
inline constexpr std::size_t kClickFeatures = kClickNumbers + kClickWords;
inline constexpr std::uint64_t kTrainClicks = 1'000'000;
inline constexpr std::uint64_t kTestClicks = 100'000;
inline constexpr std::uint64_t kFirstTestClick = std::uint64_t{1} << 40;

// Draws 1, 2, … n with probabilities in proportion to k^-exponent, by rejection from the integral
// (W. Hörmann and G. Derflinger, 1996).
class Zipf {
 public:
  Zipf(std::uint64_t n, double exponent)
      : n_(static_cast<double>(n)),
        exponent_(exponent),
        first_(integral(1.5) - 1),
        last_(integral(n_ + 0.5)),
        sure_(2 - inverse(integral(2.5) - density(2))) {}

  std::uint64_t operator()(paceline::Random& random) const {
    while (true) {
      const double u = last_ + random.uniform() * (first_ - last_);
      const double x = inverse(u);
      const double k = std::clamp(std::floor(x + 0.5), 1.0, n_);
      if (k - x <= sure_ || u >= integral(k + 0.5) - density(k)) {
        return static_cast<std::uint64_t>(k);
      }
    }
  }

 private:
  double density(double x) const { return std::exp(-exponent_ * std::log(x)); }
  double integral(double x) const {
    const double t = (1 - exponent_) * std::log(x);
    return std::log(x) * (std::abs(t) > 1e-8 ? std::expm1(t) / t : 1 + t / 2);
  }
  double inverse(double x) const {
    const double t = std::max(-1.0, x * (1 - exponent_));
    return std::exp(x * (std::abs(t) > 1e-8 ? std::log1p(t) / t : 1 - t / 2));
  }

  double n_;
  double exponent_;
  double first_;
  double last_;
  double sure_;
};

struct Click {
  std::array<std::uint32_t, kClickFeatures> keys{};
  std::array<float, kClickNumbers> numbers{};  // of the first keys; the others' values are 1
  float label = 0;
  double loss = 0;  // of the hidden model
};

class MadeUpClicks {
 public:
  MadeUpClicks() {
    // Some fields have a few words, some millions, as real ones do: each 1.6 times the one before.
    double total = 0;
    for (std::size_t i = 0; i < kClickWords; ++i) total += std::pow(1.6, static_cast<double>(i));
    std::uint32_t begin = kClickNumbers;
    for (std::size_t i = 0; i < kClickWords; ++i) {
      const double part = std::pow(1.6, static_cast<double>(i)) / total;
      const auto even = static_cast<std::uint32_t>(part * (kClickKeys - 1000 * kClickWords));
      const std::uint32_t size = i + 1 == kClickWords ? kClickKeys - begin : std::max(10U, even);
      fields_.push_back({begin, size, Zipf(size, 1.1),
                         paceline::Permutation(paceline::random_bits(kClickSeed, {1, i}), size)});
      begin += size;
    }
    calibrate();
  }

  Click click(std::uint64_t number) const {
    Click click = without_label(number);
    const double score = score_of(click) + bias_;
    const double probability = 1 / (1 + std::exp(-score));
    paceline::Random random(paceline::random_bits(kClickSeed, {2, number}));
    click.label = random.uniform() < probability ? 1 : 0;
    click.loss = -std::log(click.label > 0 ? probability : 1 - probability);
    return click;
  }

 private:
  struct Field {
    std::uint32_t begin;
    std::uint32_t size;
    Zipf words;
    paceline::Permutation scattered;
  };

  Click without_label(std::uint64_t number) const {
    Click click;
    paceline::Random random(paceline::random_bits(kClickSeed, {3, number}));
    for (std::size_t i = 0; i < kClickNumbers; ++i) {
      click.keys[i] = static_cast<std::uint32_t>(i);
      // Counts, compressed by a logarithm, to three decimals as they are in a file.
      const double count = std::exp(1.2 * random.normal());
      click.numbers[i] = static_cast<float>(std::round(1000 * std::log1p(count)) / 1000);
    }
    for (std::size_t i = 0; i < kClickWords; ++i) {
      const Field& field = fields_[i];
      click.keys[kClickNumbers + i] =
          static_cast<std::uint32_t>(field.begin + field.scattered.apply(field.words(random) - 1));
    }
    return click;
  }

  static double hidden_weight(std::uint32_t key) {
    paceline::Random random(paceline::random_bits(kClickSeed, {4, key}));
    return (key < kClickNumbers ? kNumberSpread : kWordSpread) * random.normal();
  }

  static double score_of(const Click& click) {
    double score = 0;
    for (std::size_t i = 0; i < kClickFeatures; ++i) {
      score += hidden_weight(click.keys[i]) * (i < kClickNumbers ? click.numbers[i] : 1.0);
    }
    return score;
  }

  // Finds the constant with which 25 % are positive.
  void calibrate() {
    std::vector<double> scores;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      scores.push_back(score_of(without_label((std::uint64_t{1} << 50) + i)));
    }
    double low = -50;
    double high = 50;
    for (int round = 0; round < 60; ++round) {
      bias_ = (low + high) / 2;
      double mean = 0;
      for (const double score : scores) mean += 1 / (1 + std::exp(-score - bias_));
      (mean / static_cast<double>(scores.size()) > 0.25 ? high : low) = bias_;
    }
  }

  // Of the hidden weights. Words are many and rare, so much of what they say cannot be learned from
  // a million rows; with these, LIBLINEAR ends at a test loss of about 0.44.
  static constexpr double kNumberSpread = 0.55;
  static constexpr double kWordSpread = 0.24;
  std::vector<Field> fields_;
  double bias_ = 0;
};

}  // namespace bench

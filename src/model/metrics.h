// What a model is worth on some examples, in the figures that people know.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

namespace paceline {

// Sums over examples: adding two Losses gives the Loss of both batches.
struct Loss {
  double sum = 0;     // of the per-example losses
  double weight = 0;  // what to divide by for a mean
  std::uint64_t examples = 0;
  std::uint64_t correct = 0;
  struct {                    // with two classes: those of class 1
    std::uint64_t right = 0;  // found and there
    std::uint64_t found = 0;
    std::uint64_t there = 0;
  } positives{};
  std::uint64_t predictions = 0;  // of which `correct` are right: one per example, or per word;
                                  // none when numbers are predicted

  Loss& operator+=(const Loss& other);
  double mean() const { return weight > 0 ? sum / weight : 0; }
  double accuracy() const {
    return predictions > 0 ? static_cast<double>(correct) / static_cast<double>(predictions) : 0;
  }
  // The harmonic mean of precision and recall of class 1.
  double f1() const {
    const auto all = static_cast<double>(positives.found + positives.there);
    return all > 0 ? 2 * static_cast<double>(positives.right) / all : 0;
  }
  // Where the loss is half the squared error.
  double root_mean_squared_error() const { return std::sqrt(2 * mean()); }
};

// The probability that a positive example has a higher score than a negative one; ties count
// half. 0.5 when one of the two is missing.
double area_under_curve(std::span<const float> scores, std::span<const float> labels);

// Of a test: the loss, and what models of this kind are known by.
struct Metrics {
  Loss loss;
  std::optional<double> accuracy{};  // in [0, 1], of models that predict classes or words
  std::optional<double> f1{};        // of class 1, where there are two
  std::optional<double> auc{};       // where each example has a score
  std::optional<double> rmse{};      // of models that predict numbers
};
Metrics class_metrics(const Loss& loss, bool two_classes);
Metrics number_metrics(const Loss& loss);

}  // namespace paceline

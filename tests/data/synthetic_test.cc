#include "data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace paceline {
namespace {

Batch all_of(const Dataset& dataset) {
  std::vector<std::uint64_t> examples(dataset.info().examples);
  std::iota(examples.begin(), examples.end(), std::uint64_t{0});
  Batch batch;
  dataset.read(examples, batch);
  return batch;
}

// The mean row of each class: the simplest linear model there is.
std::vector<std::vector<double>> class_means(const Batch& batch, std::size_t classes) {
  std::vector<std::vector<double>> sums(classes, std::vector<double>(batch.width));
  std::vector<double> counts(classes);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto label = static_cast<std::size_t>(batch.labels[i]);
    ++counts[label];
    for (std::size_t j = 0; j < batch.width; ++j) sums[label][j] += batch.rows[i][j];
  }
  for (std::size_t c = 0; c < classes; ++c) {
    for (double& value : sums[c]) value /= counts[c];
  }
  return sums;
}

double distance(const std::uint8_t* row, const std::vector<double>& mean) {
  double sum = 0;
  for (std::size_t j = 0; j < mean.size(); ++j) sum += (row[j] - mean[j]) * (row[j] - mean[j]);
  return sum;
}

TEST(Synthetic, IsAFunctionOfSeedAndNumber) {
  const SyntheticOptions options{.width = 37, .classes = 4, .seed = 3};
  const auto whole = make_synthetic(options, {0, 100}, "whole");
  const auto part = make_synthetic(options, {40, 60}, "part");
  const Batch a = all_of(*whole);
  const Batch b = all_of(*part);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(a.labels[40 + i], b.labels[i]);
    EXPECT_TRUE(std::equal(b.rows[i], b.rows[i] + 37, a.rows[40 + i]));
  }
}

TEST(Synthetic, DiffersBySeedAndByNumber) {
  const auto first = make_synthetic({.seed = 1}, {0, 2}, "first");
  const auto second = make_synthetic({.seed = 2}, {0, 2}, "second");
  const Batch a = all_of(*first);
  const Batch b = all_of(*second);
  EXPECT_FALSE(std::equal(a.rows[0], a.rows[0] + a.width, b.rows[0]));
  EXPECT_FALSE(std::equal(a.rows[0], a.rows[0] + a.width, a.rows[1]));
}

TEST(Synthetic, HasAllClassesAboutEquallyOften) {
  const auto dataset = make_synthetic({.width = 1, .classes = 5}, {0, 10'000}, "set");
  std::vector<int> counts(5);
  for (const auto label : all_of(*dataset).labels) ++counts.at(static_cast<std::size_t>(label));
  for (const int count : counts) EXPECT_NEAR(count, 2000, 200);
}

TEST(Synthetic, CanBeLearnedButNotAtOnce) {
  const SyntheticOptions options;
  const auto train = make_synthetic(options, {0, 5000}, "train");
  const auto test = make_synthetic(options, {1'000'000, 1'002'000}, "test");
  const auto means = class_means(all_of(*train), 10);
  const Batch batch = all_of(*test);
  int right = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::vector<double> distances;
    for (const auto& mean : means) distances.push_back(distance(batch.rows[i], mean));
    const auto nearest = std::ranges::min_element(distances) - distances.begin();
    right += nearest == batch.labels[i];
  }
  EXPECT_GT(right, 1800);
  EXPECT_LT(right, 2000);
}

TEST(Synthetic, RefusesToMakeNothing) {
  EXPECT_THROW(make_synthetic({}, {5, 5}, "set"), ConfigError);
  EXPECT_THROW(make_synthetic({.width = 0}, {0, 5}, "set"), ConfigError);
  EXPECT_THROW(make_synthetic({.classes = 0}, {0, 5}, "set"), ConfigError);
}

}  // namespace
}  // namespace paceline

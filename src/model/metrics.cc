#include "model/metrics.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace paceline {

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  weight += other.weight;
  examples += other.examples;
  correct += other.correct;
  predictions += other.predictions;
  positives.right += other.positives.right;
  positives.found += other.positives.found;
  positives.there += other.positives.there;
  return *this;
}

double area_under_curve(std::span<const float> scores, std::span<const float> labels) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return scores[a] < scores[b]; });
  double ranks = 0;  // of the positives, from 1; equal scores share their mean rank
  double positives = 0;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    double here = 0;
    while (end < order.size() && scores[order[end]] == scores[order[i]]) {
      here += labels[order[end++]] > 0 ? 1 : 0;
    }
    ranks += here * (static_cast<double>(i + end + 1) / 2);
    positives += here;
    i = end;
  }
  const double negatives = static_cast<double>(order.size()) - positives;
  if (positives == 0 || negatives == 0) return 0.5;
  return (ranks - positives * (positives + 1) / 2) / (positives * negatives);
}

Metrics class_metrics(const Loss& loss, bool two_classes) {
  Metrics metrics{loss};
  metrics.accuracy = loss.accuracy();
  if (two_classes) metrics.f1 = loss.f1();
  return metrics;
}

Metrics number_metrics(const Loss& loss) {
  Metrics metrics{loss};
  metrics.rmse = loss.root_mean_squared_error();
  return metrics;
}

}  // namespace paceline

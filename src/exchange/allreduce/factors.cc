#include "exchange/allreduce/factors.h"

namespace paceline {
namespace {

constexpr double kFlopsPerSecond = 50e9;  // of one core, in a product of this shape

}  // namespace

FactorCost cost_of(const Matrix& matrix, std::uint64_t batch, std::uint64_t workers,
                   double link_gbit) {
  const auto n = static_cast<double>(workers);
  const auto out = static_cast<double>(matrix.out);
  const auto in = static_cast<double>(matrix.in);
  const auto rows = static_cast<double>(batch);  // of all workers
  const double bytes_per_second = link_gbit * 1e9 / 8;
  FactorCost cost;
  cost.dense_bytes = 2 * (n - 1) / n * out * in * sizeof(float);
  cost.factor_bytes = (n - 1) / n * rows * (out + in) * sizeof(float);
  cost.dense_seconds = cost.dense_bytes / bytes_per_second;
  cost.factor_seconds =
      cost.factor_bytes / bytes_per_second + 2 * rows * (n - 1) / n * out * in / kFlopsPerSecond;
  return cost;
}

std::vector<Matrix> choose_factored(const std::vector<Matrix>& matrices, std::uint64_t batch,
                                    std::uint64_t workers, const FactorOptions& options) {
  std::vector<Matrix> chosen;
  for (const Matrix& matrix : matrices) {
    const FactorCost cost = cost_of(matrix, batch, workers, options.link_gbit);
    const bool cheaper = cost.factor_seconds < cost.dense_seconds;
    if (options.choice == FactorChoice::kAlways ||
        (options.choice == FactorChoice::kAuto && cheaper)) {
      chosen.push_back(matrix);
    }
  }
  return chosen;
}

}  // namespace paceline

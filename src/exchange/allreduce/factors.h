// Whether workers exchange the gradient of a fully connected layer, or what it is a product
// of.
//
// That gradient, [out, in], is the sum over examples of an error [out] times an input [in].
// With few examples these factors are much smaller than the matrix: each worker gathers
// those of all others and forms the whole product by itself. The result is exact; what it
// costs is the product over everybody's examples instead of one's own.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"

namespace paceline {

enum class FactorChoice { kAuto, kNever, kAlways };

struct FactorOptions {
  FactorChoice choice = FactorChoice::kAuto;
  double link_gbit = 1;  // what a worker's link carries per second, in either direction
};

// What one worker sends per step for one matrix, and how long that takes it.
struct FactorCost {
  double dense_bytes = 0;
  double factor_bytes = 0;
  double dense_seconds = 0;
  double factor_seconds = 0;  // with the products that come on top
};
FactorCost cost_of(const Matrix& matrix, std::uint64_t batch, std::uint64_t workers,
                   double link_gbit);

// Those that are exchanged as factors: the same on every worker.
std::vector<Matrix> choose_factored(const std::vector<Matrix>& matrices, std::uint64_t batch,
                                    std::uint64_t workers, const FactorOptions& options);

}  // namespace paceline

// Row + table → table: a step of online learning, in one pass over the row's keys.
//
// Each row is predicted before it is learned from, so the loss that comes out is one of examples
// that were new (progressive validation). With g the gradient of the loss by a weight w, plus
// l2·w:
//
//   sgd       w ← w − r·g
//   adagrad   b ← b + g²;  w ← w − r·g / (√b + ε)
//   ftrl      z ← z + g − (√(n + g²) − √n)/r · w;  n ← n + g²;
//             w = 0 where |z| ≤ l1, else (sign(z)·l1 − z) / ((β + √n)/r + l2)
//
// In sgd and adagrad, l1 then moves the weight towards 0 by l1 times the step's own rate, and no
// further. Only the weights of a row's keys move: regularization is that of the keys that occur.
#pragma once

#include <cstdint>
#include <span>

#include "model/linear/sparse_linear.h"
#include "model/model.h"
#include "optim/optimizer.h"
#include "optim/rows/row_table.h"

namespace paceline {

struct RowRule {
  OptimizerKind kind = OptimizerKind::kAdagrad;  // or kSgd, kFtrl
  SparseLinear::Kind loss = SparseLinear::Kind::kLogistic;
  float rate = 0.1F;
  float l1 = 0;
  float l2 = 0;
  float epsilon = 1e-8F;  // adagrad
  float beta = 1;         // ftrl
};

// Its loss is logistic.
RowRule row_rule(const OptimizerOptions& options, double rate);

using RowPointers = std::span<const std::uint32_t* const>;

// Learns from the rows in their order.
Loss learn_rows(const RowRule& rule, RowPointers rows, const TableView& table);

// What the table says of the rows: for logistic loss the logarithm of the odds.
void score_rows(const RowRule& rule, RowPointers rows, const TableView& table,
                std::span<float> scores);

float weight_of(const RowRule& rule, TableRow row);
void weights_of(const RowRule& rule, std::span<const TableRow> rows, std::span<float> weights);

}  // namespace paceline

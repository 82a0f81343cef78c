// What scores of test rows say of a model of sparse data.
#pragma once

#include <span>
#include <vector>

#include "data/sparse/row_cache.h"
#include "model/linear/sparse_linear.h"
#include "optim/rows/learn_rows.h"
#include "train/local_report.h"
#include "train/run_config.h"

namespace paceline {

RowRule rule_of(const RunConfig& config);  // with the rate that the schedule starts from

std::vector<float> labels_of(const RowCache& rows);
TestResult test_result(SparseLinear::Kind kind, std::span<const float> scores,
                       std::span<const float> labels);

}  // namespace paceline

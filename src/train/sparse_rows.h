// What runs on sparse rows have in common, wherever the table is.
#pragma once

#include <vector>

#include "config/run_config.h"
#include "data/sparse/row_cache.h"
#include "exchange/ps/row_shard.h"
#include "model/linear/sparse_linear.h"
#include "optim/rows/learn_rows.h"
#include "train/run_spec.h"

namespace paceline {

RowRule rule_of(const RunConfig& config, const Schedule& schedule);

// Throws ConfigError when the checkpoint has not what this run's optimizer needs.
void load_rows(const RunSpec& spec, const ValueSource& checkpoint, RowShard& table);

std::vector<float> labels_of(const RowCache& rows);

}  // namespace paceline

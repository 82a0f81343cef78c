#include "train/sparse_rows.h"

#include <algorithm>

#include "base/error.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {

RowRule rule_of(const RunConfig& config, const Schedule& schedule) {
  RowRule rule = row_rule(config.optimizer, schedule.rate(0));
  rule.loss = kind_of(config.model);
  return rule;
}

void load_rows(const RunSpec& spec, const ValueSource& checkpoint, RowShard& table) {
  const CheckpointInfo& info = checkpoint.info();
  const bool same_optimizer = info.optimizer == name_of(spec.config.optimizer.kind);
  if (spec.config.optimizer.kind == OptimizerKind::kFtrl && !same_optimizer) {
    throw ConfigError("cannot go on from {} with ftrl: it was made with {}",
                      spec.checkpoint.string(), info.optimizer);
  }
  std::vector<float> values(std::size_t{1} << 20);
  for (std::uint64_t vector = 0; vector <= usable_slots(spec, checkpoint); ++vector) {
    for (std::uint64_t at = 0; at < info.layout.size; at += values.size()) {
      const auto part =
          std::span(values).first(std::min<std::uint64_t>(values.size(), info.layout.size - at));
      checkpoint.read(vector, {at, at + part.size()}, part);
      table.load_vector(vector, static_cast<Key>(at), part);
    }
  }
}

std::vector<float> labels_of(const RowCache& rows) {
  std::vector<float> labels(rows.info().rows);
  for (std::uint64_t i = 0; i < labels.size(); ++i) labels[i] = row_at(rows.row(i)).label;
  return labels;
}

}  // namespace paceline

#include "train/sparse_rows.h"

#include <algorithm>

#include "base/error.h"
#include "train/workload.h"

namespace paceline {

RowRule rule_of(const RunConfig& config, const Schedule& schedule) {
  RowRule rule = row_rule(config.optimizer, schedule.rate(0));
  rule.loss = kind_of(config.model);
  return rule;
}

void load_rows(const RunConfig& config, const CheckpointReader& reader, RowShard& table) {
  const CheckpointInfo& info = reader.info();
  const bool with_state = info.optimizer == name_of(config.optimizer.kind);
  if (config.optimizer.kind == OptimizerKind::kFtrl && !with_state) {
    throw ConfigError("cannot go on from {} with ftrl: it was made with {}", config.resume.string(),
                      info.optimizer);
  }
  std::vector<float> values(std::size_t{1} << 20);
  for (std::uint64_t vector = 0; vector <= (with_state ? info.slots : 0); ++vector) {
    for (std::uint64_t at = 0; at < info.layout.size; at += values.size()) {
      const auto part =
          std::span(values).first(std::min<std::uint64_t>(values.size(), info.layout.size - at));
      reader.read(vector, {at, at + part.size()}, part);
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

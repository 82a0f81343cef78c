#include "train/server_options.h"

namespace paceline {

ServerCore::Options server_options(const RunConfig& config, const Workload& workload,
                                   std::uint32_t index, std::uint64_t version) {
  ServerCore::Options options;
  options.mode = config.mode;
  options.grid = workload.grid;
  options.rules = workload.rules;
  options.chunks = workload.chunks.chunks_of(index);
  options.servers = workload.chunks.servers();
  options.rows = exchanges_rows(config);
  options.staleness = server_staleness(config);
  options.version = version;
  options.last_version = workload.last_version;
  return options;
}

ShardOptions shard_options(const RunConfig& config, const Workload& workload,
                           const ServerCore::Options& server) {
  ShardOptions options;
  options.optimizer = config.optimizer;
  options.groups = workload.groups;
  options.grid = workload.grid;
  options.rules = workload.rules;
  options.deterministic = config.deterministic;
  options.keep_previous_state = server.may_go_back();
  options.whole_tables = config.transfer == Transfer::kDense;
  return options;
}

}  // namespace paceline

// How a server of a run works, and what its chunks keep, as the run's configuration says.
#pragma once

#include <cstdint>

#include "config/run_config.h"
#include "exchange/ps/server_core.h"
#include "exchange/ps/shard.h"
#include "train/workload.h"

namespace paceline {

// Of the server with this index, from this version on. Which steps were applied before is for
// whoever reads the checkpoint.
ServerCore::Options server_options(const RunConfig& config, const Workload& workload,
                                   std::uint32_t index, std::uint64_t version);

// Of what such a server holds, unless that is a part of a table.
ShardOptions shard_options(const RunConfig& config, const Workload& workload,
                           const ServerCore::Options& server);

}  // namespace paceline

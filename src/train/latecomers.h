// Which roles of a run have not registered yet.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cluster/chief_core.h"
#include "config/run_config.h"

namespace paceline {

// "server0, worker1" by the names that the launcher gives; "2 workers" where those that are there
// have other names, or too many are missing. `members` by incarnation.
std::string missing_roles(const RunConfig& config,
                          const std::map<std::uint32_t, ClusterMember>& members);

}  // namespace paceline

// What a run would need, as an object for people and machines: tensors, what a step costs on the
// wire, the parts of the servers, the memory of each role.
//
// Looks at the data and starts nothing. Of sparse rows the size of the table follows from --bits:
// without a file, only what depends on the examples is left out, and "unknown" says so.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/run_config.h"

namespace paceline {

// Throws DataError when the data cannot be read, ConfigError when they do not fit the run.
nlohmann::json estimate_run(const RunConfig& config);

}  // namespace paceline

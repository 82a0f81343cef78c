// Settings that are given but would do nothing, e.g. a staleness without ssp: whoever wrote
// one expects something of it.
#pragma once

#include <map>
#include <string>

#include "config/run_config.h"

namespace paceline {

// What somebody has set: by key, the words a complaint begins with ("--staleness", or
// "my.toml:3:1: staleness").
using NamedSettings = std::map<std::string, std::string>;

// Throws ConfigError for the first of `named` that has no effect in `config`.
void check_effects(const RunConfig& config, const NamedSettings& named);

}  // namespace paceline

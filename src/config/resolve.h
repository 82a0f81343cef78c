// Flags over recipe over defaults → one configuration that has been checked.
#pragma once

#include <map>
#include <string>

#include "config/environment.h"
#include "config/run_config.h"

namespace paceline {

// What the command line says about a run.
struct ConfigSources {
  std::string recipe;                        // name or path; empty: defaults only
  std::map<std::string, std::string> flags;  // setting key → text
};

// To run it, or only to say what it would need: then sparse rows need not be named, since the
// size of their table is known without them.
enum class Purpose { kRun, kEstimate };

// With --resume RUN the base is RUN/config.toml instead of a recipe, and the run goes on
// in RUN unless --run-dir names another directory. Without both, run_dir is the default
// (run_dir.h).
// Throws ConfigError on the first thing that is wrong.
RunConfig resolve(const ConfigSources& sources, const Environment& environment,
                  Purpose purpose = Purpose::kRun);

// The cache, unless a folder is named; examples that are made up need none.
void choose_data_dir(DataOptions& data, const Environment& environment);

// Throws ConfigError when settings contradict each other.
void validate(const RunConfig& config, Purpose purpose = Purpose::kRun);

}  // namespace paceline

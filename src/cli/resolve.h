// Flags over recipe over defaults → one configuration that has been checked.
#pragma once

#include <map>
#include <string>

#include "cli/environment.h"
#include "train/run_config.h"

namespace paceline {

// What the command line says about a run.
struct ConfigSources {
  std::string recipe;                        // name or path; empty: defaults only
  std::map<std::string, std::string> flags;  // setting key → text
};

// With --resume RUN the base is RUN/config.toml instead of a recipe, and the run goes on
// in RUN unless --run-dir names another directory. Without both, run_dir is
// runs/<recipe>-<time> with a suffix when that exists.
// Throws ConfigError on the first thing that is wrong.
RunConfig resolve(const ConfigSources& sources, const Environment& environment);

// Settings that contradict each other. `flags` are those given on the command line: one
// that would have no effect is refused there, while a recipe may hold values for modes
// that it does not use.
void validate(const RunConfig& config, const std::map<std::string, std::string>& flags);

// runs/<recipe>-<YYYYmmdd-HHMMSS>, or with -2, -3, … the first that does not exist.
std::filesystem::path default_run_dir(const std::string& recipe,
                                      std::chrono::system_clock::time_point now);

}  // namespace paceline

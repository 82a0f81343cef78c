// A whole training run, from an empty run directory to its summary.
#pragma once

#include "config/run_config.h"
#include "observe/reporter.h"
#include "train/run_spec.h"

namespace paceline {

// Makes the run directory, writes config.toml and trains: with processes on this machine, or
// with threads of this process when the exchange is local. Throws Interrupted after Ctrl-C,
// another Error when the run failed; the run directory then says how far it came.
void train(const RunConfig& config, Reporter& reporter);

// The ways; the run directory is there.
void train_with_processes(const RunSpec& spec, Reporter& reporter);
void train_with_threads(const RunSpec& spec, Reporter& reporter);
// Of sparse rows, whose table only they touch.
void train_rows_with_threads(const RunSpec& spec, Reporter& reporter);

}  // namespace paceline

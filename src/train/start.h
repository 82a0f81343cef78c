// What a run starts from: values made from its seed, or those another run has learned.
//
// With --init the starting values of all tensors, frozen ones included, are written to
// checkpoints/start.ckpt of the run directory before any role starts. Roles and later commands
// read them there, so the other run may go.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/activity.h"
#include "config/run_config.h"
#include "model/model.h"

namespace paceline {

struct Start {
  std::vector<float> parameters;
  std::vector<float> frozen;
  std::vector<std::string> anew;  // tensors that --init has not, or in another shape
};

// Throws ConfigError when --init has none of the tensors, or not all that are frozen.
Start make_start(const RunConfig& config, const Model& model);

// Into the run directory.
void write_start(const RunConfig& config, const Start& start, const Model& model);
// Of a run that goes on: from the directory it was in, if there is one.
void keep_start(const RunConfig& config);

// With an --init from the run directory, otherwise from the seed. `activity` counts what is read.
void load_start(const RunConfig& config, const Model& model, std::span<float> parameters,
                Activity* activity = nullptr);
// The same or, with a --resume, from its checkpoint; that has a `state`, too (slots vectors, one
// behind the other), if it was made with this run's optimizer.
void load_parameters(const RunConfig& config, const Model& model, std::span<float> parameters,
                     std::span<float> state, Activity* activity = nullptr);

}  // namespace paceline

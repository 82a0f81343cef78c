// What a run starts from: values made from its seed, or those another run has learned.
//
// With --init the starting values of all tensors, frozen ones included, are written to
// checkpoints/start.ckpt of the run directory before any role starts. Roles and later commands
// read them there, so the other run may go.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/activity.h"
#include "checkpoint/value_source.h"
#include "config/run_config.h"
#include "model/model.h"
#include "train/run_spec.h"

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

// The checkpoint that the run goes on from; null: there is none.
std::unique_ptr<ValueSource> open_checkpoint(const RunSpec& spec, Activity* activity = nullptr);
// The state vectors of it that this run's optimizer can use: those of another are of no use.
std::uint64_t usable_slots(const RunSpec& spec, const ValueSource& checkpoint);
// Its parameters and state (slots vectors, one behind the other), or those of the start.
void load_parameters(const RunSpec& spec, const Model& model, std::span<float> parameters,
                     std::span<float> state, Activity* activity = nullptr);

}  // namespace paceline

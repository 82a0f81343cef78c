// A checkpoint with the configuration of the run that made it, and the model that it is of.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "config/run_config.h"
#include "model/model.h"

namespace paceline {

struct Trained {
  std::filesystem::path file;     // the checkpoint
  std::filesystem::path run_dir;  // where it lies, with what its run has left there
  RunConfig config;
  std::vector<float> parameters;
};

// `target` is a run directory, whose newest checkpoint is read, or a checkpoint. Throws DataError.
Trained read_trained(const std::filesystem::path& target);

// For data like these. Throws ConfigError, DataError.
std::unique_ptr<Model> make_model(const Trained& trained, const DatasetInfo& data);

}  // namespace paceline

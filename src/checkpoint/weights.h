// All tensors of a trained model: those of a checkpoint and, beside it in start.ckpt, those that
// the run was started with and has not learned (frozen ones).
#pragma once

#include <filesystem>
#include <vector>

#include "model/model.h"

namespace paceline {

std::filesystem::path start_path(const std::filesystem::path& checkpoints);  // in this folder
bool has_start(const std::filesystem::path& checkpoints);
void expect_start(const std::filesystem::path& checkpoints);  // throws DataError

// As they lie in start.ckpt: the frozen tensors, then those that are learned.
Layout all_tensors(const Model& model);

// Gives a model its frozen tensors, from the folder of its checkpoints; nothing, when it has none.
// Throws DataError.
void load_frozen(const std::filesystem::path& checkpoints, Model& model);

// Of a checkpoint: the learned tensors, then the frozen ones.
struct Weights {
  Layout layout;
  std::vector<float> values;
};
Weights read_weights(const std::filesystem::path& checkpoint);

}  // namespace paceline

// Checkpoints as `paceline inspect` shows them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "model/model.h"

namespace paceline {

// Name, shape and size of each: an array of objects.
nlohmann::json describe_tensors(const Layout& layout);

// What is in a checkpoint, its tensors, and the SHA-256 of its parameters: two checkpoints
// with the same digest have the same parameters, bit by bit. Reads all of the file; throws
// DataError when it is damaged.
nlohmann::json describe_checkpoint(const std::filesystem::path& file);

// Those of a run directory, oldest first. Of one that is damaged there is only its name
// and, as "damage", the sentence that says so.
nlohmann::json describe_checkpoints(const std::filesystem::path& run_dir);

// Whether a file starts as checkpoints do, or is called one.
bool looks_like_checkpoint(const std::filesystem::path& file);

}  // namespace paceline

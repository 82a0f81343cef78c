// summary.json, the last word of a run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace paceline {

// Null when the run directory has none. Throws DataError when it is damaged: no JSON object.
nlohmann::json read_summary(const std::filesystem::path& run_dir);

}  // namespace paceline

// What processes have made for each other, brought to where it is wanted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "prepare/sliced_file.h"
#include "prepare/stages.h"

namespace paceline {

// Every process gets its slices of the files of all others: new files, with this ending, in its
// folder; or, when all are on one host, those files themselves.
std::vector<std::filesystem::path> share_slices(const PrepareContext& context,
                                                const std::vector<std::filesystem::path>& files,
                                                SlicedFile (*open)(const std::filesystem::path&),
                                                const std::string& ending);

}  // namespace paceline

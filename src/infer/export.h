// `paceline export`: trained weights for other programs.
#pragma once

#include <filesystem>

namespace paceline {

// A dictionary of tensors for Python's torch.load; of sparse rows, a line for each weight that is
// not zero. `target` is a run directory or a checkpoint.
void export_trained(const std::filesystem::path& target, const std::filesystem::path& output);

}  // namespace paceline

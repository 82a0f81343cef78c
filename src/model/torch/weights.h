// Weights in the form in which Python's torch saves and loads them.
#pragma once

#include <filesystem>
#include <span>

#include "model/model.h"

namespace paceline {

// A dictionary of tensors by name. LSTM layers get the second bias that libtorch wants, of
// zeros. Throws DataError.
void write_weights(const Layout& layout, std::span<const float> parameters,
                   const std::filesystem::path& file);

}  // namespace paceline

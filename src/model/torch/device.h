// Where a network is computed.
#pragma once

#include <torch/torch.h>

#include <optional>

#include "model/options.h"

namespace paceline {

// Nothing: by the CPU. Throws ConfigError when the wanted device is not there.
std::optional<torch::Device> other_device(const ModelOptions& options);

}  // namespace paceline

// Rows of bytes as tensors.
#pragma once

#include <torch/torch.h>

#include "data/dataset.h"

namespace paceline {

// [examples, channels, height, width] between −1 and 1, the channels of a pixel side by side
// in memory as they are in the rows: the format that convolutions like best.
torch::Tensor images_of(const Batch& batch, const ImageShape& shape);

// [examples, width] between 0 and 1.
torch::Tensor rows_of(const Batch& batch);

}  // namespace paceline

#include "model/torch/images.h"

#include "base/error.h"

namespace paceline {
namespace {

void scale(const Batch& batch, float factor, float offset, float* out) {
  for (const std::uint8_t* row : batch.rows) {
    for (std::size_t i = 0; i < batch.width; ++i) {
      out[i] = static_cast<float>(row[i]) * factor + offset;
    }
    out += batch.width;
  }
}

}  // namespace

torch::Tensor images_of(const Batch& batch, const ImageShape& shape) {
  PACELINE_CHECK(batch.width == shape.bytes());
  torch::Tensor pixels = torch::empty(
      {static_cast<std::int64_t>(batch.size()), shape.height, shape.width, shape.channels});
  scale(batch, 2.0f / 255.0f, -1.0f, pixels.data_ptr<float>());
  return pixels.permute({0, 3, 1, 2});
}

torch::Tensor rows_of(const Batch& batch) {
  torch::Tensor rows = torch::empty(
      {static_cast<std::int64_t>(batch.size()), static_cast<std::int64_t>(batch.width)});
  scale(batch, 1.0f / 255.0f, 0.0f, rows.data_ptr<float>());
  return rows;
}

}  // namespace paceline

#include "data/in_memory.h"

#include <utility>

#include "base/error.h"

namespace paceline {

DatasetInfo in_memory_info(std::string name, std::uint64_t examples, std::size_t width,
                           std::int32_t classes, ImageShape image) {
  return {.name = std::move(name),
          .examples = examples,
          .width = width,
          .classes = classes,
          .memory_bytes = examples * (width + sizeof(std::int32_t)),
          .image = image};
}

InMemoryDataset::InMemoryDataset(std::string name, std::size_t width, std::int32_t classes,
                                 Buffer rows, std::vector<std::int32_t> labels, ImageShape image)
    : info_(in_memory_info(std::move(name), labels.size(), width, classes, image)),
      rows_(std::move(rows)),
      labels_(std::move(labels)) {
  PACELINE_CHECK(rows_.size() == info_.examples * width);
}

void InMemoryDataset::read(std::span<const std::uint64_t> examples, Batch& batch) const {
  const auto* first = reinterpret_cast<const std::uint8_t*>(rows_.data());
  batch.rows.resize(examples.size());
  batch.labels.resize(examples.size());
  for (std::size_t i = 0; i < examples.size(); ++i) {
    PACELINE_CHECK(examples[i] < info_.examples);
    batch.rows[i] = first + examples[i] * info_.width;
    batch.labels[i] = labels_[examples[i]];
  }
  batch.weights.clear();
  batch.width = info_.width;
  batch.weight = static_cast<double>(examples.size());
}

}  // namespace paceline

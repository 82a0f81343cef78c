// A dataset whose rows lie in one block of memory: batches point at them where they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "data/dataset.h"

namespace paceline {

class InMemoryDataset : public Dataset {
 public:
  // `rows` holds one row of `width` bytes per label, without gaps.
  InMemoryDataset(std::string name, std::size_t width, std::int32_t classes, Buffer rows,
                  std::vector<std::int32_t> labels, ImageShape image = {});

  const DatasetInfo& info() const override { return info_; }
  void read(std::span<const std::uint64_t> examples, Batch& batch) const override;

 private:
  DatasetInfo info_;
  Buffer rows_;                       // [examples, width]
  std::vector<std::int32_t> labels_;  // [examples]
};

// What such a dataset will be, before any of it is in memory.
DatasetInfo in_memory_info(std::string name, std::uint64_t examples, std::size_t width,
                           std::int32_t classes, ImageShape image = {});

}  // namespace paceline

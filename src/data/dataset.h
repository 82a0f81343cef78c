// Examples by number, and the batches made of them.
//
// A dataset is immutable once opened and may be read from many threads at once. Images
// stay bytes: a batch of an in-memory dataset points at the rows where they lie, and the
// model's kernel turns bytes into numbers as it reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"

namespace paceline {

// Some examples, in the order asked for. `rows` point into the dataset or into `storage`;
// either way they are valid as long as the dataset and this batch live.
struct Batch {
  std::vector<const std::uint8_t*> rows;  // [size] of `width` bytes each
  std::vector<std::int32_t> labels;       // [size]
  std::size_t width = 0;
  double weight = 0;  // what the gradient sum is divided by: here, the number of examples
  Buffer storage;

  std::size_t size() const { return rows.size(); }
};

// What a model must know of the data it is made for.
struct DatasetInfo {
  std::string name;  // "mnist/train"
  std::uint64_t examples = 0;
  std::size_t width = 0;     // bytes of one example's features
  std::int32_t classes = 0;  // labels are in [0, classes)
  std::uint64_t memory_bytes = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DatasetInfo& info() const = 0;
  // Fills `batch`, re-using its memory. Throws DataError when a source cannot be read.
  virtual void read(std::span<const std::uint64_t> examples, Batch& batch) const = 0;
};

}  // namespace paceline

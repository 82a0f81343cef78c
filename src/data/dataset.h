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
#include <string_view>
#include <vector>

#include "base/buffer.h"

namespace paceline {

// Some examples, in the order asked for. `rows` point into the dataset or into `storage`;
// either way they are valid as long as the dataset and this batch live.
struct Batch {
  std::vector<std::uint64_t> examples;  // their numbers: what randomness is a function of
  std::uint64_t epoch = 0;
  std::vector<const std::uint8_t*> rows;  // [size] of `width` bytes each
  std::vector<std::int32_t> labels;       // [size]
  std::vector<float> weights;             // [size]: how much each example counts; empty: 1
  std::size_t width = 0;
  double weight = 0;                   // their sum: what the gradient sum is divided by
  std::vector<std::uint32_t> touched;  // of sparse rows by place: see sparse/touched.h
  Buffer storage;

  std::size_t size() const { return rows.size(); }
};

// How the bytes of an image lie: row by row, the channels of a pixel side by side.
struct ImageShape {
  std::uint32_t height = 0;  // all zero: not an image
  std::uint32_t width = 0;
  std::uint32_t channels = 0;

  std::size_t bytes() const { return std::size_t{height} * width * channels; }
  bool operator==(const ImageShape&) const = default;
};

// How texts lie in the rows: see text.h.
struct TextShape {
  std::uint32_t sequences = 0;   // per example; none: the rows are not texts
  std::uint32_t length = 0;      // tokens of a sequence, at most
  std::uint32_t vocabulary = 0;  // tokens are below

  bool operator==(const TextShape&) const = default;
};

// What a model must know of the data it is made for.
struct DatasetInfo {
  std::string name;  // "mnist/train"
  std::uint64_t examples = 0;
  std::size_t width = 0;     // bytes of one example's features
  std::int32_t classes = 0;  // labels are in [0, classes)
  std::uint64_t memory_bytes = 0;
  ImageShape image{};          // when the rows are images
  TextShape text{};            // when they are texts
  std::uint32_t row_bits = 0;  // when they are sparse (sparse/row.h): keys are at most 2^row_bits
};

enum class Split { kTrain, kTest };

// For data of one part: whether an example belongs to its test part. By a hash, so that equal
// examples are on the same side.
bool is_for_test(std::string_view example, double test_share);

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const DatasetInfo& info() const = 0;
  // Fills all of `batch` but its examples and its epoch, re-using its memory. Throws
  // DataError when a source cannot be read.
  virtual void read(std::span<const std::uint64_t> examples, Batch& batch) const = 0;
  // Files that could not be read so far, whose examples weigh nothing, as they were found.
  virtual std::vector<std::string> unreadable() const { return {}; }
};

}  // namespace paceline

// Batches of random bytes for tests of models.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/dataset.h"

namespace paceline {

struct ByteBatchOptions {
  std::size_t size = 1;
  std::size_t width = 1;
  std::int32_t classes = 2;
  double zeros = 0.5;      // share of zero bytes; they come in runs, as in images
  std::size_t offset = 0;  // of the first row from an aligned address
  std::uint64_t seed = 1;
};

inline Batch byte_batch(const ByteBatchOptions& options) {
  Random random(options.seed);
  Batch batch;
  batch.width = options.width;
  batch.weight = static_cast<double>(options.size);
  batch.storage = Buffer::zeros(options.offset + options.size * options.width);
  auto* bytes = reinterpret_cast<std::uint8_t*>(batch.storage.data()) + options.offset;
  for (std::size_t e = 0; e < options.size; ++e) {
    batch.rows.push_back(bytes + e * options.width);
    bool zero = false;
    for (std::size_t i = 0; i < options.width; ++i) {
      if (i % 13 == 0) zero = random.uniform() < options.zeros;
      const auto value = static_cast<std::uint8_t>(1 + random.below(255));
      bytes[e * options.width + i] = zero ? std::uint8_t{0} : value;
    }
    const auto bound = static_cast<std::uint64_t>(options.classes);
    batch.labels.push_back(static_cast<std::int32_t>(random.below(bound)));
  }
  return batch;
}

inline std::vector<float> random_floats(std::size_t size, double deviation, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(deviation * random.normal());
  return values;
}

}  // namespace paceline

// Checkpoints whose numbers are a known function of where they are.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/data_error.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"

namespace paceline {

// One tensor of `size` floats.
inline CheckpointInfo sample_info(std::uint64_t size, std::uint64_t slots) {
  CheckpointInfo info;
  info.layout = {{{"softmax.weights", {size}, {0, size}}}, size};
  info.model = "softmax";
  info.optimizer = "momentum";
  info.slots = slots;
  info.version = 1200;
  info.examples = 120'000;
  info.epoch = 2;
  info.config = "schema = 1\nrecipe = \"mnist\"  # größer\n";
  return info;
}

inline float sample_value(std::uint64_t vector, std::uint64_t index) {
  return static_cast<float>(random_bits(vector, {index}) >> 40) - 8'000'000.0F;
}

inline void sample_fill(std::uint64_t vector, Range floats, std::span<float> out) {
  for (std::uint64_t i = 0; i < floats.size(); ++i) {
    out[i] = sample_value(vector, floats.begin + i);
  }
}

inline std::vector<float> sample_values(std::uint64_t vector, Range floats) {
  std::vector<float> values(floats.size());
  sample_fill(vector, floats, values);
  return values;
}

inline std::vector<float> read_floats(const CheckpointReader& reader, std::uint64_t vector,
                                      Range floats) {
  std::vector<float> values(floats.size());
  reader.read(vector, floats, values);
  return values;
}

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace paceline

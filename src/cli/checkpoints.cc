#include "cli/checkpoints.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format.h"
#include "data/sha256.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Of the flat vector as it is stored: little-endian floats.
std::string digest_of_parameters(const CheckpointReader& reader) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  const std::uint64_t size = reader.info().layout.size;
  std::vector<float> piece(std::min(kPiece, size));
  Sha256 sum;
  for (Range range{0, 0}; range.end < size;) {
    range = {range.end, std::min(range.end + kPiece, size)};
    const auto values = std::span(piece).first(range.size());
    reader.read(0, range, values);
    sum.add(std::as_bytes(values));
  }
  return sum.hex();
}

}  // namespace

nlohmann::json describe_tensors(const Layout& layout) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const Tensor& tensor : layout.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"shape", tensor.shape},
                       {"bytes", tensor.floats.size() * sizeof(float)}});
  }
  return tensors;
}

nlohmann::json describe_checkpoint(const fs::path& file) {
  const CheckpointReader reader(file);
  reader.verify();
  const CheckpointInfo& info = reader.info();
  return {{"name", file.filename().string()},
          {"file", file.string()},
          {"model", info.model},
          {"parameters", info.layout.size},
          {"version", info.version},
          {"epoch", info.epoch},
          {"examples", info.examples},
          {"optimizer", info.optimizer},
          {"trained_on", info.steps},
          {"digest", digest_of_parameters(reader)},
          {"tensors", describe_tensors(info.layout)}};
}

nlohmann::json describe_checkpoints(const fs::path& run_dir) {
  nlohmann::json found = nlohmann::json::array();
  for (const fs::path& file : list_checkpoints(run_dir)) {
    try {
      found.push_back(describe_checkpoint(file));
    } catch (const DataError& error) {
      found.push_back(
          {{"name", file.filename().string()}, {"file", file.string()}, {"damage", error.what()}});
    }
  }
  return found;
}

bool looks_like_checkpoint(const fs::path& file) {
  if (file.extension() == ".ckpt") return true;
  std::array<char, checkpoint_format::kMagic.size()> start{};
  return std::ifstream(file).read(start.data(), start.size()) && start == checkpoint_format::kMagic;
}

}  // namespace paceline

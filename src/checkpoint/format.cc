#include "checkpoint/format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"

namespace paceline::checkpoint_format {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little,
              "numbers are little-endian in the file and copied as they are");

template <typename Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

Json to_json(const CheckpointInfo& info) {
  Json tensors = Json::array();
  for (const Tensor& tensor : info.layout.tensors) {
    tensors.push_back(
        {{"name", tensor.name}, {"shape", tensor.shape}, {"offset", tensor.floats.begin}});
  }
  Json applied = Json::array();
  for (const Range& steps : info.applied) applied.push_back({steps.begin, steps.end});
  return {{"model", info.model},           {"tensors", std::move(tensors)},
          {"floats", info.layout.size},    {"optimizer", info.optimizer},
          {"slots", info.slots},           {"version", info.version},
          {"applied", std::move(applied)}, {"steps", info.steps},
          {"examples", info.examples},     {"epoch", info.epoch},
          {"config", info.config},         {"block_floats", CheckpointSections().block_floats}};
}

// A whole number of at most `most`; anything else is damage that the checksum let through.
std::uint64_t count(const Json& value, std::uint64_t most = UINT64_MAX) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    throw std::out_of_range("no number in the header may be " + value.dump());
  }
  return value.get<std::uint64_t>();
}

std::uint64_t elements(const std::vector<std::uint64_t>& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    if (extent != 0 && product > kMostFloats / extent) {
      throw std::out_of_range("a tensor is too large");
    }
    product *= extent;
  }
  return product;
}

Tensor tensor_from(const Json& json, std::uint64_t floats) {
  Tensor tensor;
  tensor.name = json.at("name").get<std::string>();
  for (const Json& extent : json.at("shape")) tensor.shape.push_back(count(extent, kMostFloats));
  const std::uint64_t offset = count(json.at("offset"), floats);
  tensor.floats = {offset, offset + elements(tensor.shape)};
  if (tensor.floats.end > floats) throw std::out_of_range("a tensor lies outside the data");
  return tensor;
}

CheckpointInfo info_from(const Json& json) {
  CheckpointInfo info;
  info.model = json.at("model").get<std::string>();
  info.layout.size = count(json.at("floats"), kMostFloats);
  for (const Json& tensor : json.at("tensors")) {
    info.layout.tensors.push_back(tensor_from(tensor, info.layout.size));
  }
  info.optimizer = json.at("optimizer").get<std::string>();
  info.slots = count(json.at("slots"), kMostSlots);
  info.version = count(json.at("version"));
  for (const Json& steps : json.at("applied")) {
    info.applied.push_back({count(steps.at(0)), count(steps.at(1))});
  }
  info.steps = json.at("steps").get<std::string>();
  info.examples = count(json.at("examples"));
  info.epoch = count(json.at("epoch"));
  info.config = json.at("config").get<std::string>();
  return info;
}

}  // namespace

void fail_damaged(const fs::path& path, const std::string& how) {
  throw DataError("{} is damaged: {}; start from an older checkpoint", path.string(), how);
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

CheckpointSections sections(const CheckpointInfo& info, std::uint64_t head_bytes) {
  return {.head_bytes = head_bytes, .floats = info.layout.size * (info.slots + 1)};
}

std::string encode_head(const fs::path& path, const CheckpointInfo& info) {
  PACELINE_CHECK(info.layout.size <= kMostFloats && info.slots <= kMostSlots);
  for (const Tensor& tensor : info.layout.tensors) {
    PACELINE_CHECK(elements(tensor.shape) == tensor.floats.size());
    PACELINE_CHECK(tensor.floats.end <= info.layout.size);
  }
  std::string header;
  try {
    header = to_json(info).dump();
  } catch (const Json::exception& error) {
    throw DataError("cannot write {}: {}", path.string(), error.what());
  }
  // Spaces, which are nothing in JSON, bring the data to an aligned offset.
  const std::uint64_t bare = kPreambleBytes + header.size() + kChecksumBytes;
  header.append((kAlignment - bare % kAlignment) % kAlignment, ' ');
  PACELINE_CHECK(header.size() <= kMostHeaderBytes);
  std::string head(kMagic.begin(), kMagic.end());
  append(head, kVersion);
  append(head, static_cast<std::uint32_t>(header.size()));
  head += header;
  append(head, checksum(std::as_bytes(std::span(head))));
  return head;
}

std::uint64_t head_bytes(const fs::path& path, std::span<const std::byte> preamble) {
  PACELINE_CHECK(preamble.size() == kPreambleBytes);
  if (std::memcmp(preamble.data(), kMagic.data(), kMagic.size()) != 0) {
    throw DataError("{} is not a checkpoint of Paceline", path.string());
  }
  const auto version = number_at<std::uint32_t>(preamble, kMagic.size());
  if (version != kVersion) {
    throw DataError("{} has format {}, but this program reads format {}", path.string(), version,
                    kVersion);
  }
  const std::uint64_t header = number_at<std::uint32_t>(preamble, kMagic.size() + sizeof(version));
  if (header > kMostHeaderBytes) {
    fail_damaged(path, fmt::format("its header would have {} bytes", header));
  }
  return kPreambleBytes + header + kChecksumBytes;
}

Head decode_head(const fs::path& path, std::span<const std::byte> head) {
  const auto checked = head.first(head.size() - kChecksumBytes);
  if (checksum(checked) != number_at<std::uint64_t>(head, checked.size())) {
    fail_damaged(path, "its header does not match its checksum");
  }
  try {
    const auto* text = reinterpret_cast<const char*>(head.data());
    const Json json = Json::parse(text + kPreambleBytes, text + checked.size());
    Head decoded{info_from(json), {}};
    decoded.sections = sections(decoded.info, head.size());
    decoded.sections.block_floats = count(json.at("block_floats"), kMostBlockFloats);
    if (decoded.sections.block_floats == 0) throw std::out_of_range("blocks of no length");
    return decoded;
  } catch (const std::exception& error) {
    fail_damaged(path, fmt::format("its header makes no sense ({})", error.what()));
  }
}

}  // namespace paceline::checkpoint_format

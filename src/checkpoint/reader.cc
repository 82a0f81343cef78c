#include <fmt/ranges.h>

#include <algorithm>

#include "base/buffer.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format.h"

namespace paceline {
namespace {

namespace format = checkpoint_format;

[[noreturn]] void fail_size(const RandomAccessFile& file, std::uint64_t bytes) {
  format::fail_damaged(file.path(),
                       fmt::format("it has {} bytes, but should have {}{}", file.size(), bytes,
                                   file.size() < bytes ? " (truncated)" : ""));
}

// The first `bytes` bytes, of which no more are allocated than the file has.
Buffer read_front(const RandomAccessFile& file, std::uint64_t bytes) {
  if (file.size() < bytes) fail_size(file, bytes);
  Buffer front(bytes);
  file.read(0, front.bytes());
  return front;
}

format::Head read_head(const RandomAccessFile& file) {
  const Buffer preamble = read_front(file, format::kPreambleBytes);
  const Buffer head = read_front(file, format::head_bytes(file.path(), preamble.bytes()));
  return format::decode_head(file.path(), head.bytes());
}

std::string describe(const Tensor& tensor) {
  return fmt::format("'{}' [{}]", tensor.name, fmt::join(tensor.shape, ", "));
}

std::string describe(const Layout& layout, std::size_t index) {
  return index < layout.tensors.size() ? describe(layout.tensors[index]) : "none";
}

bool same(const Tensor& a, const Tensor& b) {
  return a.name == b.name && a.shape == b.shape && a.floats == b.floats;
}

}  // namespace

CheckpointReader::CheckpointReader(std::filesystem::path path, Activity* activity)
    : file_(std::move(path)), activity_(activity) {
  format::Head head = read_head(file_);
  info_ = std::move(head.info);
  sections_ = head.sections;
  if (file_.size() != sections_.file_bytes()) fail_size(file_, sections_.file_bytes());
  std::uint64_t expected = 0;
  checksums_.resize(sections_.blocks());
  const auto table = std::as_writable_bytes(std::span(checksums_));
  file_.read(sections_.table_offset(), table);
  file_.read(sections_.table_offset() + table.size(),
             std::as_writable_bytes(std::span(&expected, 1)));
  if (format::checksum(table) != expected) {
    format::fail_damaged(file_.path(), "its table of checksums does not match its own");
  }
}

void CheckpointReader::read(std::uint64_t vector, Range floats, std::span<float> out) const {
  PACELINE_CHECK(vector <= info_.slots && floats.begin <= floats.end &&
                 floats.end <= info_.layout.size && out.size() == floats.size());
  const std::uint64_t base = vector * info_.layout.size;
  Range rest{base + floats.begin, base + floats.end};
  Buffer scratch;
  while (!rest.empty()) {
    const std::uint64_t number = rest.begin / sections_.block_floats;
    const Range block = sections_.block(number);
    const std::uint64_t length = std::min(rest.end, block.end) - rest.begin;
    if (length == block.size()) {
      read_block(number, out.first(length));
    } else {
      if (scratch.size() == 0) scratch = Buffer(sections_.block_floats * sizeof(float));
      const std::span<float> whole = scratch.as_floats().first(block.size());
      read_block(number, whole);
      std::ranges::copy(whole.subspan(rest.begin - block.begin, length), out.begin());
    }
    rest.begin += length;
    out = out.subspan(length);
  }
}

void CheckpointReader::verify() const {
  Buffer scratch(std::min(sections_.block_floats, sections_.floats) * sizeof(float));
  for (std::uint64_t number = 0; number < sections_.blocks(); ++number) {
    read_block(number, scratch.as_floats().first(sections_.block(number).size()));
  }
}

void CheckpointReader::read_block(std::uint64_t number, std::span<float> out) const {
  const std::uint64_t offset = sections_.offset_of(number);
  file_.read(offset, std::as_writable_bytes(out));
  if (activity_ != nullptr) activity_->count();
  if (format::checksum(std::as_bytes(out)) == checksums_[number]) return;
  format::fail_damaged(file_.path(), fmt::format("bytes {} to {} do not match their checksum",
                                                 offset, offset + out.size_bytes()));
}

void CheckpointReader::expect_layout(const Layout& layout) const {
  const std::size_t count = std::max(info_.layout.tensors.size(), layout.tensors.size());
  const auto differ = [&](std::size_t i) {
    return i >= info_.layout.tensors.size() || i >= layout.tensors.size() ||
           !same(info_.layout.tensors[i], layout.tensors[i]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!differ(i)) continue;
    throw DataError("{} is of another model: tensor {} is {} in the checkpoint, but {} is expected",
                    file_.path().string(), i, describe(info_.layout, i), describe(layout, i));
  }
  if (info_.layout.size != layout.size) {
    throw DataError("{} is of another model: it has {} parameters, but {} are expected",
                    file_.path().string(), info_.layout.size, layout.size);
  }
}

}  // namespace paceline

// Where things are in a checkpoint file: the head (preamble, header, its checksum), the
// data in blocks, the table of the blocks' checksums, the table's own checksum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/range.h"

namespace paceline {

struct CheckpointSections {
  static constexpr std::uint64_t kChecksumBytes = 8;

  std::uint64_t head_bytes = 0;
  std::uint64_t floats = 0;                             // of all vectors, one behind the other
  std::uint64_t block_floats = std::uint64_t{1} << 18;  // 1 MiB; the last may be shorter

  std::uint64_t blocks() const { return (floats + block_floats - 1) / block_floats; }
  Range block(std::uint64_t number) const {
    return {number * block_floats, std::min((number + 1) * block_floats, floats)};
  }
  std::uint64_t offset_of(std::uint64_t number) const {
    return head_bytes + block(number).begin * sizeof(float);
  }
  std::uint64_t table_offset() const { return head_bytes + floats * sizeof(float); }
  std::uint64_t table_bytes() const { return blocks() * kChecksumBytes; }
  std::uint64_t file_bytes() const { return table_offset() + table_bytes() + kChecksumBytes; }
};

}  // namespace paceline

// The flat vector cut into chunks, and the chunks dealt to servers.
//
// A chunk is what one message carries. All chunks are equal to within one float, their
// number is a multiple of the number of servers, and neighbours go to different servers:
// every server carries the same bytes for any model, and the tensors of one layer are
// spread over all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/range.h"

namespace paceline {

inline constexpr std::uint64_t kMostChunkFloats = std::uint64_t{1} << 17;  // 512 KiB

class ChunkMap {
 public:
  ChunkMap(std::uint64_t floats, std::uint32_t servers,
           std::uint64_t most_chunk_floats = kMostChunkFloats);

  std::uint32_t chunks() const { return chunks_; }
  std::uint32_t servers() const { return servers_; }
  std::uint64_t floats() const { return floats_; }

  Range floats_of(std::uint32_t chunk) const { return even_part(floats_, chunks_, chunk); }
  std::uint32_t server_of(std::uint32_t chunk) const { return chunk % servers_; }
  std::vector<std::uint32_t> chunks_of(std::uint32_t server) const;

  // Chunks that overlap a range of floats, as a half-open range of chunk numbers.
  Range overlapping(Range floats) const;

 private:
  std::uint64_t floats_;
  std::uint32_t servers_;
  std::uint32_t chunks_;
};

}  // namespace paceline

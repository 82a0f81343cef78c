#include "exchange/chunks.h"

#include "base/error.h"

namespace paceline {

ChunkMap::ChunkMap(std::uint64_t floats, std::uint32_t servers, std::uint64_t most_chunk_floats)
    : floats_(floats), servers_(servers) {
  PACELINE_CHECK(floats > 0 && servers > 0 && most_chunk_floats > 0);
  const std::uint64_t per_server = most_chunk_floats * servers;
  chunks_ = static_cast<std::uint32_t>((floats + per_server - 1) / per_server * servers);
}

std::vector<std::uint32_t> ChunkMap::chunks_of(std::uint32_t server) const {
  std::vector<std::uint32_t> mine;
  for (std::uint32_t chunk = server; chunk < chunks_; chunk += servers_) mine.push_back(chunk);
  return mine;
}

Range ChunkMap::overlapping(Range floats) const {
  if (floats.empty()) return {};
  const auto chunk_at = [this](std::uint64_t at) {
    const std::uint64_t base = floats_ / chunks_;
    const std::uint64_t extra = floats_ % chunks_;
    const std::uint64_t wide = extra * (base + 1);  // floats in the chunks that are one longer
    return at < wide ? at / (base + 1) : extra + (at - wide) / base;
  };
  return {chunk_at(floats.begin), chunk_at(floats.end - 1) + 1};
}

}  // namespace paceline

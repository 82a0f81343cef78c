// libFuzzer target: any bytes, cut into pieces of any size, through the reader of frames.
// It must throw FrameError or find frames within the limits; anything else is a bug.
// tools/fuzz/run builds and runs it.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "net/frame_reader.h"

namespace paceline {
namespace {

constexpr FrameLimits kLimits{.meta_bytes = 1000, .payload_bytes = 100'000};

// Gives the frames their memory; returns whether the reader needs bytes.
bool step(FrameReader& reader, std::vector<std::byte>& memory, bool discards) {
  switch (reader.next()) {
    case FrameReader::Event::kNeedsBytes:
      return true;
    case FrameReader::Event::kHeader:
      if (reader.header().meta_bytes > kLimits.meta_bytes) std::abort();
      if (reader.header().payload_bytes > kLimits.payload_bytes) std::abort();
      return false;
    case FrameReader::Event::kMeta:
      memory.resize(reader.header().payload_bytes);
      reader.place(memory);
      if (discards) reader.discard();
      return false;
    case FrameReader::Event::kMessage:
      if (reader.meta().size() != reader.header().meta_bytes) std::abort();
      return false;
  }
  std::abort();
}

std::size_t fill(FrameReader& reader, const std::uint8_t* data, std::size_t size) {
  std::size_t filled = 0;
  for (const iovec& room : reader.room()) {
    const std::size_t part = std::min(room.iov_len, size - filled);
    std::memcpy(room.iov_base, data + filled, part);
    filled += part;
  }
  reader.filled(filled);
  return filled;
}

// Gives the frames of a stream magic, version and checksum, which no fuzzer would guess.
void seal(std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; size - at >= kHeaderBytes;) {
    const std::span<std::byte, kHeaderBytes> bytes(reinterpret_cast<std::byte*>(data + at),
                                                   kHeaderBytes);
    std::memcpy(bytes.data(), &kFrameMagic, sizeof(kFrameMagic));
    std::memcpy(bytes.data() + 4, &kProtocolVersion, sizeof(kProtocolVersion));
    const auto crc = static_cast<std::uint32_t>(::crc32(0, data + at, kHeaderBytes - 4));
    std::memcpy(bytes.data() + kHeaderBytes - 4, &crc, sizeof(crc));
    try {
      const FrameHeader header = decode(bytes, kLimits);
      at += std::min(size - at, kHeaderBytes + header.meta_bytes + header.payload_bytes);
    } catch (const FrameError&) {
      return;
    }
  }
}

}  // namespace
}  // namespace paceline

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t limit, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, limit);
  if (size > 1 && seed % 4 != 0) paceline::seal(data + 1, size - 1);
  return size;
}

// The first byte chooses the size of the pieces, and whether payloads are dropped.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paceline;
  if (size < 1) return 0;
  const std::size_t piece = 1 + data[0] / 2;
  FrameReader reader(kLimits);
  std::vector<std::byte> memory;
  try {
    for (std::size_t at = 1; at < size;) {
      at += fill(reader, data + at, std::min(piece, size - at));
      while (!step(reader, memory, data[0] % 2 == 1)) {
      }
    }
  } catch (const FrameError&) {
  }
  return 0;
}

// Any bytes as a stream of frames. They must be frames within the limits, whose bodies are what
// their checksums say, or a FrameError; and the same frames or the same error however the bytes are
// cut into pieces.
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/fuzz_target.h"
#include "net/frame_reader.h"

namespace paceline {
namespace frame_fuzzer {

constexpr FrameLimits kLimits{.meta_bytes = 1000, .payload_bytes = 100'000};

// What came out of a stream.
struct Received {
  std::vector<FrameHeader> headers;
  std::string content;  // of all frames that are complete
  std::string error;

  bool operator==(const Received&) const = default;
};

std::uint32_t body_checksum(const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(XXH3_64bits(bytes, size));
}

// Metadata and payload, which lie one behind the other in the stream.
bool is_as_sent(const FrameReader& reader, std::span<const std::byte> payload) {
  std::string body(reader.meta());
  body.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  const auto& expected = reader.header().body_checksum;
  return !expected || *expected == body_checksum(body.data(), body.size());
}

// Gives the frames their memory; returns whether the reader needs bytes.
bool step(FrameReader& reader, std::vector<std::byte>& memory, bool discards, Received& received) {
  switch (reader.next()) {
    case FrameReader::Event::kNeedsBytes:
      return true;
    case FrameReader::Event::kHeader:
      require(reader.header().meta_bytes <= kLimits.meta_bytes);
      require(reader.header().payload_bytes <= kLimits.payload_bytes);
      return false;
    case FrameReader::Event::kMeta:
      memory.assign(reader.header().payload_bytes, std::byte{0});
      reader.place(memory);
      if (discards) reader.discard();
      return false;
    case FrameReader::Event::kMessage:
      require(reader.meta().size() == reader.header().meta_bytes);
      require(discards || is_as_sent(reader, memory));
      received.headers.push_back(reader.header());
      received.content += reader.meta();
      if (!discards) {
        received.content.append(reinterpret_cast<const char*>(memory.data()), memory.size());
      }
      return false;
  }
  require(false);
  return true;
}

std::size_t fill(FrameReader& reader, FuzzBytes bytes) {
  std::size_t filled = 0;
  for (const iovec& room : reader.room()) {
    const std::size_t part = std::min(room.iov_len, bytes.size() - filled);
    if (part > 0) std::memcpy(room.iov_base, bytes.data() + filled, part);
    filled += part;
  }
  reader.filled(filled);
  return filled;
}

Received receive(FuzzBytes bytes, std::size_t piece, bool discards) {
  Received received;
  FrameReader reader(kLimits);
  std::vector<std::byte> memory;
  try {
    while (!bytes.empty()) {
      bytes = bytes.subspan(fill(reader, bytes.first(std::min(piece, bytes.size()))));
      while (!step(reader, memory, discards, received)) {
      }
    }
  } catch (const FrameError& error) {
    received.error = error.what();
    require(!received.error.empty());
  }
  return received;
}

// The first byte chooses the size of the pieces, and whether payloads are dropped. A stream may be
// repeated until it is longer than the reader's buffer.
void run(FuzzBytes bytes) {
  constexpr std::size_t kLong = 150'000;
  const std::uint8_t choice = take_byte(bytes);
  const bool discards = choice % 2 == 1;
  std::vector<std::uint8_t> stream(bytes.begin(), bytes.end());
  const bool repeats = choice >= 240 && bytes.size() >= kHeaderBytes;
  while (repeats && stream.size() < kLong) stream.insert(stream.end(), bytes.begin(), bytes.end());
  const std::size_t piece = repeats ? 1000 * (1 + choice / 2U) : 1 + choice / 2U;
  const Received cut = receive(stream, piece, discards);
  require(cut == receive(stream, std::max<std::size_t>(1, stream.size()), discards));
  for (const FrameHeader& header : cut.headers) {
    std::array<std::byte, kHeaderBytes> again{};
    encode(header, again);
    require(decode(again, kLimits) == header);
  }
}

void seal_header(std::span<std::byte, kHeaderBytes> bytes) {
  const auto crc = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const std::uint8_t*>(bytes.data()), kHeaderBytes - 4));
  std::memcpy(bytes.data() + kHeaderBytes - 4, &crc, sizeof(crc));
}

// Magic, version and checksums of each frame.
void seal(std::span<std::uint8_t> data) {
  if (!data.empty()) data = data.subspan(1);
  while (data.size() >= kHeaderBytes) {
    const std::span<std::byte, kHeaderBytes> bytes(reinterpret_cast<std::byte*>(data.data()),
                                                   kHeaderBytes);
    std::memcpy(bytes.data(), &kFrameMagic, sizeof(kFrameMagic));
    std::memcpy(bytes.data() + 4, &kProtocolVersion, sizeof(kProtocolVersion));
    seal_header(bytes);
    try {
      FrameHeader header = decode(bytes, kLimits);
      const std::uint64_t body = header.meta_bytes + header.payload_bytes;
      const bool whole = body <= data.size() - kHeaderBytes;
      if (whole && header.body_checksum) {
        header.body_checksum = body_checksum(data.data() + kHeaderBytes, body);
        encode(header, bytes);
      }
      data = data.subspan(std::min<std::uint64_t>(data.size(), kHeaderBytes + body));
    } catch (const FrameError&) {
      return;
    }
  }
}

}  // namespace frame_fuzzer

const FuzzTarget kFrameFuzzer{"frame", frame_fuzzer::run, frame_fuzzer::seal};

}  // namespace paceline

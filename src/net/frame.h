// The bytes of a message: a fixed header, protobuf metadata, a raw payload. docs/wire.md
// has the table. Parsing checks everything before anything is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace paceline {

inline constexpr std::uint32_t kFrameMagic = 0x45434150;  // "PACE"
inline constexpr std::uint16_t kProtocolVersion = 6;
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kPreambleBytes = 8;  // magic, version, type: never change
inline constexpr std::size_t kMaxMetaBytes = std::size_t{1} << 20;
inline constexpr std::uint64_t kMaxPayloadBytes = std::uint64_t{1} << 30;

// Types below kFirstApplicationType belong to net/ itself.
inline constexpr std::uint16_t kHelloType = 1;      // first frame of the connecting side
inline constexpr std::uint16_t kWelcomeType = 2;    // answer of the accepting side
inline constexpr std::uint16_t kRefusedType = 3;    // metadata: one sentence; then closed
inline constexpr std::uint16_t kCreditType = 4;     // only returns credit
inline constexpr std::uint16_t kAskCreditType = 5;  // the sender waits for all credit owed
inline constexpr std::uint16_t kFirstApplicationType = 16;

enum class Codec : std::uint8_t {
  kRaw = 0,
  kBf16 = 1,        // floats of 16 bits in the place of 32
  kBlocks = 2,      // some blocks of the floats: see exchange/codec.h
  kBf16Blocks = 3,  // both
};

struct FrameHeader {
  std::uint16_t type = 0;
  std::uint64_t run = 0;               // run id: frames of another run are refused
  std::uint32_t assignment_epoch = 0;  // the sender's assignment
  std::uint32_t incarnation = 0;       // the sender's registration with the chief
  std::uint64_t base_version = 0;      // version the payload was computed from, or is
  Codec codec = Codec::kRaw;
  std::uint32_t meta_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint32_t credit = 0;  // payload bytes consumed since the last frame back
  // Of metadata and payload (see body_checksum.h); none on links that stay on one host.
  std::optional<std::uint32_t> body_checksum = {};

  bool operator==(const FrameHeader&) const = default;
};

// A frame that breaks the rules; the connection it came from is closed, nothing else.
class FrameError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The peer is of another version or run; what() is the sentence it is told.
class Refusal : public FrameError {
 public:
  using FrameError::FrameError;
};

struct FrameLimits {
  std::size_t meta_bytes = kMaxMetaBytes;
  std::uint64_t payload_bytes = kMaxPayloadBytes;
};

void encode(const FrameHeader& header, std::span<std::byte, kHeaderBytes> out);

// Checks what can be checked before the header is complete. Throws FrameError when the
// magic is not ours, Refusal when the version is not; a Refused frame may be of any version.
void check_preamble(std::span<const std::byte, kPreambleBytes> bytes);

// Throws like check_preamble(), and FrameError for a damaged header (it has a checksum), an
// unknown codec or flag, or a length over the limits.
FrameHeader decode(std::span<const std::byte, kHeaderBytes> bytes, const FrameLimits& limits = {});

}  // namespace paceline

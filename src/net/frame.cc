#include "net/frame.h"

#include <fmt/format.h>

#include <array>
#include <concepts>

namespace paceline {
namespace {

// Offsets of the fields; docs/wire.md has the same table for people.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kTypeAt = 6;
constexpr std::size_t kRunAt = 8;
constexpr std::size_t kAssignmentEpochAt = 16;
constexpr std::size_t kIncarnationAt = 20;
constexpr std::size_t kBaseVersionAt = 24;
constexpr std::size_t kPayloadBytesAt = 32;
constexpr std::size_t kMetaBytesAt = 40;
constexpr std::size_t kCreditAt = 44;
constexpr std::size_t kCodecAt = 48;
constexpr std::size_t kFlagsAt = 49;
constexpr std::size_t kBodyChecksumAt = 52;
constexpr std::size_t kChecksumAt = 60;
constexpr std::array<std::size_t, 6> kReserved = {50, 51, 56, 57, 58, 59};

constexpr std::uint8_t kHasBodyChecksum = 1;  // the only flag

template <std::unsigned_integral T>
void put(std::span<std::byte> out, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

template <std::unsigned_integral T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[at + i]) << (8 * i)));
  }
  return value;
}

// CRC-32 with the polynomial of zlib and Ethernet, four bytes a step: kCrcTables[k][b] is
// the remainder of byte b with k zero bytes behind it. For the 60 bytes of a header this
// takes less than a third of the time of zlib's, which is made for megabytes.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? 0xedb88320u : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t shorter = tables[k - 1][byte];
      tables[k][byte] = (shorter >> 8) ^ tables[0][shorter & 0xff];
    }
  }
  return tables;
}

constexpr CrcTables kCrcTables = make_crc_tables();

std::uint32_t checksum(std::span<const std::byte> bytes) {
  static_assert(kChecksumAt % 4 == 0);
  std::uint32_t crc = ~0u;
  for (std::size_t at = 0; at < kChecksumAt; at += 4) {
    crc ^= get<std::uint32_t>(bytes, at);
    crc = kCrcTables[3][crc & 0xff] ^ kCrcTables[2][(crc >> 8) & 0xff] ^
          kCrcTables[1][(crc >> 16) & 0xff] ^ kCrcTables[0][crc >> 24];
  }
  return ~crc;
}

void check_integrity(std::span<const std::byte, kHeaderBytes> bytes) {
  if (get<std::uint32_t>(bytes, kChecksumAt) != checksum(bytes)) {
    throw FrameError("damaged frame: the checksum of its header does not match");
  }
}

void check_reserved(std::span<const std::byte, kHeaderBytes> bytes) {
  for (const std::size_t i : kReserved) {
    if (bytes[i] != std::byte{0}) {
      throw FrameError(fmt::format("malformed frame: reserved byte {} is not 0", i));
    }
  }
}

std::optional<std::uint32_t> body_checksum(std::span<const std::byte, kHeaderBytes> bytes) {
  const auto flags = get<std::uint8_t>(bytes, kFlagsAt);
  if (flags > kHasBodyChecksum) {
    throw FrameError(fmt::format("malformed frame: unknown flags {}", flags));
  }
  const auto value = get<std::uint32_t>(bytes, kBodyChecksumAt);
  if (flags == kHasBodyChecksum) return value;
  if (value != 0) throw FrameError("malformed frame: a checksum without its flag");
  return std::nullopt;
}

void check_lengths(const FrameHeader& header, const FrameLimits& limits) {
  if (header.meta_bytes > limits.meta_bytes) {
    throw FrameError(fmt::format("malformed frame: {} bytes of metadata, the limit is {}",
                                 header.meta_bytes, limits.meta_bytes));
  }
  if (header.payload_bytes > limits.payload_bytes) {
    throw FrameError(fmt::format("malformed frame: {} bytes of payload, the limit is {}",
                                 header.payload_bytes, limits.payload_bytes));
  }
}

}  // namespace

void encode(const FrameHeader& header, std::span<std::byte, kHeaderBytes> out) {
  put(out, kMagicAt, kFrameMagic);
  put(out, kVersionAt, kProtocolVersion);
  put(out, kTypeAt, header.type);
  put(out, kRunAt, header.run);
  put(out, kAssignmentEpochAt, header.assignment_epoch);
  put(out, kIncarnationAt, header.incarnation);
  put(out, kBaseVersionAt, header.base_version);
  put(out, kPayloadBytesAt, header.payload_bytes);
  put(out, kMetaBytesAt, header.meta_bytes);
  put(out, kCreditAt, header.credit);
  put(out, kCodecAt, static_cast<std::uint8_t>(header.codec));
  put(out, kFlagsAt, header.body_checksum ? kHasBodyChecksum : std::uint8_t{0});
  put(out, kBodyChecksumAt, header.body_checksum.value_or(0));
  for (const std::size_t i : kReserved) out[i] = std::byte{0};
  put(out, kChecksumAt, checksum(out));
}

void check_preamble(std::span<const std::byte, kPreambleBytes> bytes) {
  if (get<std::uint32_t>(bytes, kMagicAt) != kFrameMagic) {
    throw FrameError("the peer does not speak Paceline's protocol: check the address and port");
  }
  const auto version = get<std::uint16_t>(bytes, kVersionAt);
  const auto type = get<std::uint16_t>(bytes, kTypeAt);
  if (version != kProtocolVersion && type != kRefusedType) {
    throw Refusal(fmt::format(
        "this is Paceline protocol {}, the peer speaks {}: update both sides to the same release",
        kProtocolVersion, version));
  }
}

FrameHeader decode(std::span<const std::byte, kHeaderBytes> bytes, const FrameLimits& limits) {
  check_preamble(bytes.first<kPreambleBytes>());
  check_integrity(bytes);
  FrameHeader header;
  header.type = get<std::uint16_t>(bytes, kTypeAt);
  header.run = get<std::uint64_t>(bytes, kRunAt);
  header.assignment_epoch = get<std::uint32_t>(bytes, kAssignmentEpochAt);
  header.incarnation = get<std::uint32_t>(bytes, kIncarnationAt);
  header.base_version = get<std::uint64_t>(bytes, kBaseVersionAt);
  header.payload_bytes = get<std::uint64_t>(bytes, kPayloadBytesAt);
  header.meta_bytes = get<std::uint32_t>(bytes, kMetaBytesAt);
  header.credit = get<std::uint32_t>(bytes, kCreditAt);
  const auto codec = get<std::uint8_t>(bytes, kCodecAt);
  check_reserved(bytes);
  header.body_checksum = body_checksum(bytes);
  if (codec > static_cast<std::uint8_t>(Codec::kBf16Blocks)) {
    throw FrameError(fmt::format("malformed frame: unknown codec {}", codec));
  }
  header.codec = static_cast<Codec>(codec);
  check_lengths(header, limits);
  return header;
}

}  // namespace paceline

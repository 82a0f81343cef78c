#include "net/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>

namespace paceline {
namespace {

using testing::HasSubstr;
using Bytes = std::array<std::byte, kHeaderBytes>;

FrameHeader example() {
  FrameHeader header;
  header.type = 0x0102;
  header.run = 0x1112131415161718;
  header.assignment_epoch = 0x21222324;
  header.incarnation = 0x31323334;
  header.base_version = 0x4142434445464748;
  header.payload_bytes = 0x01020304;
  header.meta_bytes = 0x00050607;
  header.credit = 0x51525354;
  header.body_checksum = 0x61626364;
  return header;
}

Bytes encoded(const FrameHeader& header) {
  Bytes bytes;
  encode(header, bytes);
  return bytes;
}

// Makes the checksum right again after a change.
void seal(Bytes& bytes) {
  const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), 60);
  for (std::size_t i = 0; i < 4; ++i) bytes[60 + i] = static_cast<std::byte>(crc >> (8 * i));
}

std::string refusal(const std::function<void(Bytes&)>& change, bool sealed = true) {
  Bytes bytes = encoded(example());
  change(bytes);
  if (sealed) seal(bytes);
  try {
    decode(bytes);
  } catch (const FrameError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Frame, DecodesWhatItEncodes) {
  EXPECT_EQ(decode(encoded(example())), example());
}

TEST(Frame, LayoutIsTheDocumentedOne) {
  const Bytes bytes = encoded(example());
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
    }
    return value;
  };
  EXPECT_EQ(static_cast<char>(bytes[0]), 'P');
  EXPECT_EQ(static_cast<char>(bytes[3]), 'E');
  EXPECT_EQ(number(4, 2), kProtocolVersion);
  EXPECT_EQ(number(6, 2), example().type);
  EXPECT_EQ(number(8, 8), example().run);
  EXPECT_EQ(number(16, 4), example().assignment_epoch);
  EXPECT_EQ(number(20, 4), example().incarnation);
  EXPECT_EQ(number(24, 8), example().base_version);
  EXPECT_EQ(number(32, 8), example().payload_bytes);
  EXPECT_EQ(number(40, 4), example().meta_bytes);
  EXPECT_EQ(number(44, 4), example().credit);
  EXPECT_EQ(number(48, 1), 0u);
  EXPECT_EQ(number(49, 1), 1u);
  EXPECT_EQ(number(52, 4), *example().body_checksum);
}

TEST(Frame, AnyFlippedBitIsNoticed) {
  for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    const auto flip = [&](Bytes& bytes) { bytes[bit / 8] ^= std::byte{1} << (bit % 8); };
    EXPECT_NE(refusal(flip, /*sealed=*/false), "accepted") << "bit " << bit;
  }
}

TEST(Frame, OtherMagicIsNotOurs) {
  EXPECT_THAT(refusal([](Bytes& bytes) { bytes[0] = std::byte{'H'}; }),
              HasSubstr("does not speak Paceline"));
}

TEST(Frame, OtherVersionIsRefusedWithASentenceForThePeer) {
  Bytes bytes = encoded(example());
  bytes[4] = std::byte{kProtocolVersion + 1};
  seal(bytes);
  try {
    decode(bytes);
    FAIL() << "accepted";
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "this is Paceline protocol 6, the peer speaks 7: update both sides to the same "
                 "release");
  }
}

TEST(Frame, RefusedFrameOfAnyVersionIsRead) {
  FrameHeader refused;
  refused.type = kRefusedType;
  refused.meta_bytes = 20;
  Bytes bytes = encoded(refused);
  bytes[4] = std::byte{77};
  seal(bytes);
  EXPECT_EQ(decode(bytes), refused);
}

TEST(Frame, UnknownCodecAndReservedBytesAreRefused) {
  EXPECT_THAT(refusal([](Bytes& bytes) { bytes[48] = std::byte{9}; }),
              HasSubstr("unknown codec 9"));
  EXPECT_THAT(refusal([](Bytes& bytes) { bytes[59] = std::byte{1}; }),
              HasSubstr("reserved byte 59"));
  EXPECT_THAT(refusal([](Bytes& bytes) { bytes[50] = std::byte{1}; }),
              HasSubstr("reserved byte 50"));
  EXPECT_THAT(refusal([](Bytes& bytes) { bytes[49] = std::byte{3}; }),
              HasSubstr("unknown flags 3"));
  EXPECT_THAT(refusal([](Bytes& bytes) { bytes[49] = std::byte{0}; }),
              HasSubstr("a checksum without its flag"));
}

TEST(Frame, LengthsOverTheLimitsAreRefused) {
  FrameLimits limits;
  limits.meta_bytes = 100;
  limits.payload_bytes = 1000;
  FrameHeader header;
  header.type = kFirstApplicationType;
  header.meta_bytes = 100;
  header.payload_bytes = 1000;
  EXPECT_EQ(decode(encoded(header), limits), header);
  header.payload_bytes = 1001;
  EXPECT_THROW(decode(encoded(header), limits), FrameError);
  header.payload_bytes = 1000;
  header.meta_bytes = 101;
  EXPECT_THROW(decode(encoded(header), limits), FrameError);
  header.meta_bytes = 0;
  header.payload_bytes = ~std::uint64_t{0};
  EXPECT_THROW(decode(encoded(header)), FrameError);
}

}  // namespace
}  // namespace paceline

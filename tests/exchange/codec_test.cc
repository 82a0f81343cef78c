#include "exchange/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/buffer.h"
#include "base/random.h"

namespace paceline {
namespace {

constexpr std::size_t kCoded = 70 * kBlockFloats + 3;

// Numbers that 16 bits hold exactly.
std::vector<float> some_values(std::initializer_list<std::size_t> blocks) {
  std::vector<float> values(kCoded);
  for (const std::size_t block : blocks) {
    for (std::size_t i = block * kBlockFloats; i < (block + 1) * kBlockFloats && i < kCoded; ++i) {
      values[i] = static_cast<float>(i % 128 + 1);
    }
  }
  return values;
}

Encoded encoded(const std::vector<float>& values, WireFormat format,
                const std::optional<BlockSet>& blocks) {
  return encode({std::as_bytes(std::span(values)), nullptr}, format, blocks);
}

std::vector<float> decoded(const Encoded& from, std::vector<float> into) {
  decode(from.codec, from.payload.bytes, into);
  return into;
}

TEST(CodecOfFloats, AllOfThemLieWhereTheyLay) {
  const auto values = some_values({0, 1, 70});
  const Encoded sent = encoded(values, WireFormat::kFloat, std::nullopt);
  EXPECT_EQ(sent.codec, Codec::kRaw);
  EXPECT_EQ(sent.payload.bytes.data(), reinterpret_cast<const std::byte*>(values.data()));
  EXPECT_EQ(decoded(sent, std::vector<float>(kCoded)), values);
}

TEST(CodecOfFloats, AllOfThemAsHalves) {
  const auto values = some_values({0, 1, 70});
  const Encoded sent = encoded(values, WireFormat::kBf16, std::nullopt);
  EXPECT_EQ(sent.codec, Codec::kBf16);
  EXPECT_EQ(sent.payload.bytes.size(), 2 * kCoded);
  EXPECT_EQ(decoded(sent, std::vector<float>(kCoded)), values);
}

TEST(CodecOfFloats, SomeBlocksLeaveTheOthersAsTheyAre) {
  const auto values = some_values({3, 64, 70});
  for (const WireFormat format : {WireFormat::kFloat, WireFormat::kBf16}) {
    const Encoded sent = encoded(values, format, nonzero_blocks(values));
    EXPECT_EQ(sent.codec, format == WireFormat::kFloat ? Codec::kBlocks : Codec::kBf16Blocks);
    const std::size_t each = format == WireFormat::kFloat ? 4 : 2;
    EXPECT_EQ(sent.payload.bytes.size(), 2 * 8 + (2 * kBlockFloats + 3) * each);
    EXPECT_EQ(decoded(sent, std::vector<float>(kCoded)), values);
    const auto onto = decoded(sent, std::vector<float>(kCoded, 9));
    EXPECT_EQ(onto[2 * kBlockFloats], 9);
    EXPECT_EQ(onto[3 * kBlockFloats + 1], values[3 * kBlockFloats + 1]);
  }
}

TEST(CodecOfFloats, NothingButTheBitsWhenNothingHasChanged) {
  const std::vector<float> values(kCoded);
  const Encoded sent = encoded(values, WireFormat::kFloat, nonzero_blocks(values));
  EXPECT_EQ(sent.payload.bytes.size(), 16U);
  EXPECT_EQ(decoded(sent, std::vector<float>(kCoded, 4)), std::vector<float>(kCoded, 4));
}

TEST(CodecOfFloats, WhatDoesNotFitIsRefused) {
  const auto values = some_values({3, 64, 70});
  const Encoded sent = encoded(values, WireFormat::kFloat, nonzero_blocks(values));
  std::vector<float> into(kCoded);
  const auto whole = sent.payload.bytes;
  EXPECT_THROW(decode(sent.codec, whole.first(whole.size() - 4), into), FrameError);
  EXPECT_THROW(decode(sent.codec, whole.first(8), into), FrameError);
  EXPECT_THROW(decode(Codec::kRaw, whole, into), FrameError);
  EXPECT_THROW(decode(Codec::kBf16, whole, into), FrameError);
  Buffer beyond(whole.size());
  std::memcpy(beyond.data(), whole.data(), whole.size());
  beyond.data()[15] = std::byte{0x80};  // block 127 of 71
  EXPECT_THROW(decode(sent.codec, beyond.bytes(), into), FrameError);
}

// Whatever comes, it is decoded or refused, and nothing outside is touched (address sanitizer).
TEST(CodecOfFloats, AnyBytesAreDecodedOrRefused) {
  Random random(11);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t floats = 1 + random.below(300);
    Buffer bytes(random.below(1400));
    // Few bits, so that some fit.
    for (std::byte& byte : bytes.bytes()) {
      byte = static_cast<std::byte>(random.below(8) == 0 ? 1U << random.below(8) : 0);
    }
    std::vector<float> into(floats, 1);
    for (const Codec codec : {Codec::kRaw, Codec::kBf16, Codec::kBlocks, Codec::kBf16Blocks}) {
      try {
        decode(codec, bytes.bytes(), into);
        EXPECT_TRUE(fits(codec, bytes.size(), floats));
      } catch (const FrameError&) {
      }
    }
  }
}

}  // namespace
}  // namespace paceline

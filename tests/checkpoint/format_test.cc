#include "checkpoint/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "checkpoint/sample.h"

namespace paceline::checkpoint_format {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Head decode(const std::string& head) {
  return decode_head("some.ckpt", bytes(head));
}

// A head that is intact to its checksum, with any header.
std::string head_with(std::string header) {
  std::string head = encode_head("some.ckpt", sample_info(3, 1)).substr(0, kPreambleBytes);
  const auto length = static_cast<std::uint32_t>(header.size());
  std::memcpy(head.data() + 12, &length, sizeof(length));
  head += header;
  const std::uint64_t sum = checksum(bytes(head));
  head.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
  return head;
}

std::string header_of(const CheckpointInfo& info) {
  const std::string head = encode_head("some.ckpt", info);
  return head.substr(kPreambleBytes, head.size() - kPreambleBytes - kChecksumBytes);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(CheckpointHead, BringsTheDataToAnAlignedOffset) {
  CheckpointInfo info = sample_info(3, 0);
  for (int i = 0; i < 130; ++i) {
    info.config += 'x';
    const std::string head = encode_head("some.ckpt", info);
    ASSERT_EQ(head.size() % kAlignment, 0u);
    ASSERT_EQ(head_bytes("some.ckpt", bytes(head).first(kPreambleBytes)), head.size());
    ASSERT_EQ(decode(head).sections.head_bytes, head.size());
  }
}

TEST(CheckpointHead, StartsWithTheBytesTheDocumentSays) {
  const std::string head = encode_head("some.ckpt", sample_info(3, 0));
  EXPECT_EQ(head.substr(0, 12), std::string("PACECKPT\1\0\0\0", 12));
  EXPECT_EQ(head[kPreambleBytes], '{');
}

TEST(CheckpointHead, LaysSectionsBehindEachOther) {
  const CheckpointSections sections =
      decode(encode_head("some.ckpt", sample_info((1 << 18) + 1, 1))).sections;
  EXPECT_EQ(sections.floats, (2u << 18) + 2);
  EXPECT_EQ(sections.blocks(), 3u);
  EXPECT_EQ(sections.block(2), (Range{2 << 18, (2 << 18) + 2}));
  EXPECT_EQ(sections.offset_of(2), sections.head_bytes + (2 << 20));
  EXPECT_EQ(sections.table_offset(), sections.offset_of(2) + 8);
  EXPECT_EQ(sections.file_bytes(), sections.table_offset() + 3 * 8 + 8);
}

TEST(CheckpointHead, ThatIsNoCheckpointIsCalledSo) {
  const std::string preamble("PACECKPX\1\0\0\0\0\0\0\0", 16);
  EXPECT_THAT(data_error_of([&] { head_bytes("some.ckpt", bytes(preamble)); }),
              HasSubstr("some.ckpt is not a checkpoint"));
}

TEST(CheckpointHead, OfAnotherFormatNamesBoth) {
  const std::string preamble("PACECKPT\7\0\0\0\0\0\0\0", 16);
  EXPECT_THAT(data_error_of([&] { head_bytes("some.ckpt", bytes(preamble)); }),
              AllOf(HasSubstr("some.ckpt has format 7"), HasSubstr("reads format 1")));
}

TEST(CheckpointHead, OfAbsurdLengthIsRefusedBeforeItIsRead) {
  const std::string preamble("PACECKPT\1\0\0\0\xff\xff\xff\xff", 16);
  EXPECT_THAT(data_error_of([&] { head_bytes("some.ckpt", bytes(preamble)); }),
              AllOf(HasSubstr("some.ckpt is damaged"), HasSubstr("4294967295 bytes")));
}

TEST(CheckpointHead, WithTextsThatAreNoUtf8IsNotWritten) {
  CheckpointInfo info = sample_info(3, 0);
  info.config = "\xff\xfe";
  EXPECT_THAT(data_error_of([&] { encode_head("some.ckpt", info); }),
              HasSubstr("cannot write some.ckpt"));
}

// A checksum keeps accidents away, not authors: what passes it is still checked.
TEST(CheckpointHead, WithNumbersThatCannotBeIsDamaged) {
  const std::string header = header_of(sample_info(3, 1));
  ASSERT_NO_THROW(decode(head_with(header)));
  const std::pair<const char*, const char*> changes[] = {
      {"\"slots\":1", "\"slots\":-1"},
      {"\"slots\":1", "\"slots\":1.5"},
      {"\"slots\":1", "\"slots\":18446744073709551615"},
      {"\"floats\":3", "\"floats\":4611686018427387904"},
      {"\"floats\":3", "\"floats\":2"},
      {"\"offset\":0", "\"offset\":1"},
      {"\"shape\":[3]", "\"shape\":[281474976710656,281474976710656]"},
      {"\"shape\":[3]", "\"shape\":[4]"},
      {"\"block_floats\":262144", "\"block_floats\":0"},
      {"\"block_floats\":262144", "\"block_floats\":1099511627776"},
      {"\"applied\":[]", "\"applied\":[[1]]"},
      {"\"version\":1200", "\"version\":\"1200\""},
      {"\"epoch\"", "\"epocs\""},
      {"{", "["},
  };
  for (const auto& [from, to] : changes) {
    const std::string changed = replaced(header, from, to);
    EXPECT_THAT(data_error_of([&] { decode(head_with(changed)); }),
                AllOf(HasSubstr("some.ckpt is damaged"), HasSubstr("header makes no sense")))
        << to;
  }
  EXPECT_THAT(data_error_of([&] { decode(head_with("")); }), HasSubstr("header makes no sense"));
}

}  // namespace
}  // namespace paceline::checkpoint_format

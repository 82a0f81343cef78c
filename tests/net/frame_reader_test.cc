#include "net/frame_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"

namespace paceline {
namespace {

using Event = FrameReader::Event;

std::string frame(std::string_view meta, std::string_view payload) {
  FrameHeader header;
  header.type = kFirstApplicationType;
  header.meta_bytes = static_cast<std::uint32_t>(meta.size());
  header.payload_bytes = payload.size();
  std::string bytes(kHeaderBytes, ' ');
  encode(header, std::as_writable_bytes(std::span(bytes)).first<kHeaderBytes>());
  return bytes.append(meta).append(payload);
}

// Feeds a stream in pieces of at most `piece` bytes and collects "meta/payload".
class Feed {
 public:
  explicit Feed(const std::string& stream) : stream_(stream) {}

  std::vector<std::string> run(std::size_t piece) {
    while (taken_ < stream_.size()) {
      fill(std::min(piece, stream_.size() - taken_));
      while (step()) {
      }
    }
    return messages_;
  }
  bool read_directly() const { return direct_; }

 private:
  void fill(std::size_t bytes) {
    const auto room = reader_.room();
    std::size_t filled = 0;
    for (const iovec& each : room) {
      const std::size_t part = std::min(each.iov_len, bytes - filled);
      std::memcpy(each.iov_base, stream_.data() + taken_ + filled, part);
      filled += part;
      direct_ = direct_ || (part > 0 && each.iov_base >= payload_.data() &&
                            each.iov_base < payload_.data() + payload_.size());
    }
    taken_ += filled;
    reader_.filled(filled);
  }
  bool step() {
    switch (reader_.next()) {
      case Event::kNeedsBytes:
        return false;
      case Event::kHeader:
        return true;
      case Event::kMeta:
        payload_.resize(reader_.header().payload_bytes);
        reader_.place(std::as_writable_bytes(std::span(payload_)));
        return true;
      case Event::kMessage:
        messages_.push_back(std::string(reader_.meta()) + "/" + payload_);
        return true;
    }
    return false;
  }

  const std::string& stream_;
  std::size_t taken_ = 0;
  FrameReader reader_{FrameLimits{}};
  std::string payload_;
  std::vector<std::string> messages_;
  bool direct_ = false;
};

TEST(FrameReader, FindsTheSameFramesHoweverTheStreamIsCut) {
  const std::string stream = frame("one", "first") + frame("", "") +
                             frame("three", std::string(300, 'x')) + frame("4", "");
  const std::vector<std::string> expected = {"one/first", "/", "three/" + std::string(300, 'x'),
                                             "4/"};
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    EXPECT_EQ(Feed(stream).run(piece), expected) << "in pieces of " << piece;
  }
}

TEST(FrameReader, RestOfALargePayloadIsReadStraightToItsPlace) {
  const std::string big(1'000'000, 'b');
  const std::string stream = frame("big", big) + frame("next", "small");
  Feed feed(stream);
  EXPECT_EQ(feed.run(stream.size()), (std::vector<std::string>{"big/" + big, "next/small"}));
  EXPECT_TRUE(feed.read_directly());
}

TEST(FrameReader, RoomOffersTheBufferBehindAPayloadForWhatFollows) {
  FrameReader reader{FrameLimits{}};
  const std::string start = frame("", std::string(100, 'x')).substr(0, kHeaderBytes + 60);
  std::memcpy(reader.room()[0].iov_base, start.data(), start.size());
  reader.filled(start.size());
  ASSERT_EQ(reader.next(), Event::kHeader);
  ASSERT_EQ(reader.next(), Event::kMeta);
  std::string memory(100, ' ');
  reader.place(std::as_writable_bytes(std::span(memory)));
  ASSERT_EQ(reader.next(), Event::kNeedsBytes);
  const auto room = reader.room();
  ASSERT_EQ(room.size(), 2u);
  EXPECT_EQ(room[0].iov_base, memory.data() + 60);
  EXPECT_EQ(room[0].iov_len, 40u);
  EXPECT_GE(room[1].iov_len, kHeaderBytes);
}

TEST(FrameReader, DiscardedPayloadTouchesItsPlaceNoMore) {
  FrameReader reader{FrameLimits{}};
  const std::string stream = frame("a", std::string(100, 'x')) + frame("b", "");
  const auto feed = [&](std::size_t from, std::size_t to) {
    ASSERT_EQ(reader.room().size(), 1u);
    std::memcpy(reader.room()[0].iov_base, stream.data() + from, to - from);
    reader.filled(to - from);
  };
  const std::size_t cut = kHeaderBytes + 1 + 30;
  feed(0, cut);
  ASSERT_EQ(reader.next(), Event::kHeader);
  ASSERT_EQ(reader.next(), Event::kMeta);
  std::string memory(100, ' ');
  reader.place(std::as_writable_bytes(std::span(memory)));
  ASSERT_EQ(reader.next(), Event::kNeedsBytes);
  reader.discard();
  feed(cut, stream.size());
  EXPECT_EQ(reader.next(), Event::kMessage);
  EXPECT_TRUE(reader.payload().empty());
  EXPECT_EQ(memory, std::string(30, 'x') + std::string(70, ' '));
  EXPECT_EQ(reader.next(), Event::kHeader);
  EXPECT_EQ(reader.next(), Event::kMeta);
  EXPECT_EQ(reader.meta(), "b");
}

TEST(FrameReader, HasNoBufferBeforeTheFirstBytes) {
  FrameReader reader{FrameLimits{}};
  ASSERT_EQ(reader.room().size(), 1u);
  EXPECT_LE(reader.room()[0].iov_len, 512u);
  const std::string start = frame("meta", "");
  std::memcpy(reader.room()[0].iov_base, start.data(), 1);
  reader.filled(1);
  EXPECT_EQ(reader.next(), Event::kNeedsBytes);
  EXPECT_GE(reader.room()[0].iov_len, 60'000u);
}

TEST(FrameReader, WrongStartIsNoticedAfterEightBytes) {
  FrameReader reader{FrameLimits{}};
  std::memcpy(reader.room()[0].iov_base, "GET / HT", 8);
  reader.filled(8);
  EXPECT_THROW(reader.next(), FrameError);
}

TEST(FrameReader, KnowsWhetherItIsBetweenFrames) {
  FrameReader reader{FrameLimits{}};
  EXPECT_TRUE(reader.between_frames());
  const std::string whole = frame("", "");
  std::memcpy(reader.room()[0].iov_base, whole.data(), 7);
  reader.filled(7);
  EXPECT_EQ(reader.next(), Event::kNeedsBytes);
  EXPECT_FALSE(reader.between_frames());
  std::memcpy(reader.room()[0].iov_base, whole.data() + 7, whole.size() - 7);
  reader.filled(whole.size() - 7);
  while (reader.next() != Event::kNeedsBytes) {
  }
  EXPECT_TRUE(reader.between_frames());
}

}  // namespace
}  // namespace paceline

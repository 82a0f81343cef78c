// The checksum of metadata and payload: its value, who sends it, and what damage does.
#include "net/body_checksum.h"

#include "net/endpoint.h"
#include "net/frame_reader.h"
#include "net/link_harness.h"
#include "net/raw_peer.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::uint32_t checksum_of(std::string_view text) {
  BodyChecksum checksum;
  checksum.start();
  checksum.add(std::as_bytes(std::span(text)));
  return checksum.value();
}

std::string checked_frame(const std::string& meta, const std::string& payload) {
  FrameHeader header = application_header();
  header.body_checksum = checksum_of(meta + payload);
  return raw_frame(header, meta, payload);
}

TEST(BodyChecksum, IsTheLowHalfOfXxh3) {
  EXPECT_EQ(checksum_of(""), 0x38d394c2U);  // of 2d06800538d394c2
}

TEST(BodyChecksum, DoesNotDependOnThePieces) {
  const std::string text(100'000, 'x');
  BodyChecksum checksum;
  for (const std::size_t piece : {1, 7, 64, 4096}) {
    checksum.start();
    for (std::size_t at = 0; at < text.size(); at += piece) {
      checksum.add(std::as_bytes(std::span(text)).subspan(at, std::min(piece, text.size() - at)));
    }
    EXPECT_EQ(checksum.value(), checksum_of(text)) << piece;
  }
}

// Feeds the stream in pieces; returns the messages, or why it was given up.
std::string read_all(const std::string& stream, std::size_t piece) {
  FrameReader reader{FrameLimits{}};
  std::string payload;
  std::string messages;
  try {
    for (std::size_t taken = 0; taken < stream.size();) {
      std::size_t filled = 0;
      for (const iovec& each : reader.room()) {
        const std::size_t part =
            std::min({each.iov_len, piece - filled, stream.size() - taken - filled});
        std::memcpy(each.iov_base, stream.data() + taken + filled, part);
        filled += part;
      }
      taken += filled;
      reader.filled(filled);
      for (auto event = reader.next(); event != FrameReader::Event::kNeedsBytes;
           event = reader.next()) {
        if (event == FrameReader::Event::kMeta && reader.header().payload_bytes > 0) {
          payload.resize(reader.header().payload_bytes);
          reader.place(std::as_writable_bytes(std::span(payload)));
        }
        if (event == FrameReader::Event::kMessage) messages += std::string(reader.meta()) + ";";
      }
    }
  } catch (const FrameError& error) {
    return error.what();
  }
  return messages;
}

TEST(BodyChecksum, IsCheckedHoweverTheStreamIsCut) {
  const std::string stream = checked_frame("meta", std::string(300, 'p')) + checked_frame("m", "") +
                             raw_frame(application_header(), "unchecked", "p");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    EXPECT_EQ(read_all(stream, piece), "meta;m;unchecked;") << piece;
  }
}

TEST(BodyChecksum, EveryDamagedByteOfTheBodyIsNoticed) {
  const std::string good = checked_frame("meta", std::string(300, 'p'));
  for (std::size_t at = kHeaderBytes; at < good.size(); ++at) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    EXPECT_THAT(read_all(damaged, 100),
                AllOf(HasSubstr("checksum of its 304 bytes"), HasSubstr("network")))
        << at;
  }
}

TEST(BodyChecksum, IsOfLinksBetweenHosts) {
  const auto tcp = [](const char* host) {
    return resolve(Address{Address::Kind::kTcp, host, 1}).front();
  };
  EXPECT_TRUE(on_one_host(tcp("127.0.0.1"), tcp("127.0.0.2")));
  EXPECT_TRUE(on_one_host(tcp("10.0.0.1"), tcp("10.0.0.1")));
  EXPECT_TRUE(on_one_host(tcp("::1"), tcp("::1")));
  EXPECT_FALSE(on_one_host(tcp("10.0.0.1"), tcp("10.0.0.2")));
  EXPECT_FALSE(on_one_host(tcp("fe80::1"), tcp("fe80::2")));
}

class BodyChecksumLink : public LinkTest {
 protected:
  static LinkOptions checked() {
    LinkOptions options;
    options.checksums = true;
    return options;
  }
};

TEST_P(BodyChecksumLink, MessagesArriveWithIt) {
  join(checked());
  const std::string payload(1'000'000, 'p');
  left.link->send(application_header(), "one", payload_of(payload));
  left.link->send(application_header(), "two");
  ASSERT_TRUE(wait_for_messages(2));
  EXPECT_EQ(right.messages[0].payload, payload);
  const bool looks = GetParam() != Wire::kMemory;
  EXPECT_EQ(right.messages[0].header.body_checksum.has_value(), looks);
}

TEST_P(BodyChecksumLink, IsLeftOutOnOneHost) {
  join();
  left.link->send(application_header(), "one", payload_of("p"));
  ASSERT_TRUE(wait_for_messages(1));
  EXPECT_FALSE(right.messages[0].header.body_checksum.has_value());
}

INSTANTIATE_TEST_SUITE_P(All, BodyChecksumLink,
                         testing::Values(Wire::kUnix, Wire::kTcp, Wire::kMemory), wire_name);

// Nothing of a damaged message is handed over, and only its link is closed.
TEST(BodyChecksum, DamageClosesTheLinkWithAReason) {
  const TempDir directory;
  Loop loop;
  Recorder server;
  const Listener listener(loop, Address::parse("unix:" + directory.file("x.sock")), {},
                          [&](std::shared_ptr<Link> link) {
                            server.link = std::move(link);
                            return &server;
                          });
  RawPeer peer(listener.address());
  std::string bytes = checked_frame("good", "payload") + checked_frame("bad", "payload");
  bytes.back() = '?';
  peer.write(bytes);
  ASSERT_TRUE(loop.run_until([&] { return !server.reasons.empty(); },
                             Clock::now() + std::chrono::seconds(20)));
  ASSERT_EQ(server.messages.size(), 1U);
  EXPECT_EQ(server.messages[0].meta, "good");
  EXPECT_THAT(server.reasons[0], HasSubstr("damaged frame"));
}

// Any release must be able to read why it was turned away.
TEST(BodyChecksum, ARefusalHasNone) {
  const TempDir directory;
  Loop loop;
  Recorder server;
  LinkOptions options;
  options.checksums = true;
  options.run = 1;
  const Listener listener(loop, Address::parse("unix:" + directory.file("x.sock")), options,
                          [&](std::shared_ptr<Link> link) {
                            server.link = std::move(link);
                            return &server;
                          });
  RawPeer peer(listener.address());
  peer.write(raw_frame(application_header(), "of run 0", ""));
  std::string answer;
  ASSERT_TRUE(loop.run_until(
      [&] {
        answer += peer.read();
        return answer.size() >= kHeaderBytes;
      },
      Clock::now() + std::chrono::seconds(20)));
  EXPECT_EQ(answer[6], static_cast<char>(kRefusedType));
  EXPECT_EQ(answer.substr(49, 11), std::string(11, '\0'));
}

}  // namespace
}  // namespace paceline

// Peers that break the rules, and what only sockets can do; what all links promise is in
// link_test.cc.
#include "net/socket_link.h"

#include <array>

#include "net/link_harness.h"
#include "net/raw_peer.h"
#include "net/socket_stream.h"

namespace paceline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A listener with an orderly link (`right`), and room for a peer that misbehaves.
class SocketLinkTest : public LinkTest {
 protected:
  void SetUp() override {
    LinkOptions options;
    options.run = 7;
    options.limits.payload_bytes = 1'000'000;
    join(options);
    listener.emplace(loop, Address::parse("unix:" + directory.file("bad.sock")), options,
                     [this](std::shared_ptr<Link> link) {
                       bad.link = std::move(link);
                       return &bad;
                     });
    peer.emplace(listener->address());
    ASSERT_TRUE(wait([this] { return bad.link != nullptr; }));
  }

  FrameHeader header(std::uint16_t number = 0) const {
    FrameHeader result = application_header(number);
    result.run = 7;
    return result;
  }
  std::string reason_after(std::string_view bytes) {
    peer->write(bytes);
    wait([this] { return !bad.reasons.empty() || bad.link == nullptr || !bad.link->open(); });
    peer->end();
    wait([this] { return !bad.reasons.empty(); });
    return bad.reasons.empty() ? "still open" : bad.reasons[0];
  }
  // Like wait(), for conditions that read or write at the peer: the loop must not block.
  bool poll_until(const std::function<bool()>& done) {
    const TimePoint limit = soon();
    while (!done()) {
      if (Clock::now() > limit) return false;
      loop.poll();
    }
    return true;
  }
  void expect_other_link_works() {
    left.link->send(application_header(), "", payload_of("still there"));
    ASSERT_TRUE(wait_for_messages(1));
    EXPECT_EQ(right.messages[0].payload, "still there");
  }

  Recorder bad;
  std::optional<RawPeer> peer;
};

TEST_P(SocketLinkTest, GarbageClosesOnlyTheLinkItCameFrom) {
  EXPECT_THAT(reason_after("GET / HTTP/1.1\r\n\r\n"), HasSubstr("does not speak Paceline"));
  expect_other_link_works();
}

// Whoever looks from outside sees that a large message gets on.
TEST_P(SocketLinkTest, BytesAreCountedAsTheyComeNotWhenTheMessageIsComplete) {
  const std::string bytes = raw_frame(header(), "meta", std::string(1000, 'x'));
  for (const std::size_t part : {bytes.size() - 500, bytes.size() - 1}) {
    const std::uint64_t before = bad.link->counters().bytes_in;
    peer->write(std::string_view(bytes).substr(before, part - before));
    EXPECT_TRUE(wait([&] { return bad.link->counters().bytes_in == part; }));
    EXPECT_THAT(bad.messages, IsEmpty());
  }
}

TEST_P(SocketLinkTest, DamagedHeaderClosesTheLink) {
  std::string bytes = raw_frame(header(), "meta", "payload");
  bytes[17] ^= 1;
  EXPECT_THAT(reason_after(bytes), HasSubstr("checksum"));
  EXPECT_THAT(bad.messages, IsEmpty());
  expect_other_link_works();
}

TEST_P(SocketLinkTest, LengthOverTheLimitClosesTheLinkBeforeMemoryIsAskedFor) {
  FrameHeader huge = header();
  std::string bytes(kHeaderBytes, ' ');
  huge.payload_bytes = 1'000'001;
  encode(huge, std::as_writable_bytes(std::span(bytes)).first<kHeaderBytes>());
  EXPECT_THAT(reason_after(bytes), HasSubstr("1000001 bytes of payload"));
  EXPECT_EQ(bad.placed, 0);
}

TEST_P(SocketLinkTest, TypesNobodyKnowsCloseTheLink) {
  FrameHeader unknown = header();
  unknown.type = 9;
  EXPECT_THAT(reason_after(raw_frame(unknown, "", "")), HasSubstr("unknown type 9"));
}

TEST_P(SocketLinkTest, CreditFrameWithPayloadClosesTheLink) {
  FrameHeader credit = header();
  credit.type = kCreditType;
  EXPECT_THAT(reason_after(raw_frame(credit, "", "x")), HasSubstr("has no payload"));
}

TEST_P(SocketLinkTest, CreditForWhatWasNeverSentClosesTheLink) {
  FrameHeader credit = header();
  credit.credit = 1;
  EXPECT_THAT(reason_after(raw_frame(credit, "", "")), HasSubstr("returned credit for 1 bytes"));
}

TEST_P(SocketLinkTest, EndInTheMiddleOfAMessageIsSaid) {
  peer->write(raw_frame(header(), "meta", "payload").substr(0, kHeaderBytes + 6));
  peer->end();
  ASSERT_TRUE(wait([this] { return !bad.reasons.empty(); }));
  EXPECT_THAT(bad.reasons[0], HasSubstr("in the middle of a message"));
  EXPECT_THAT(bad.messages, IsEmpty());
}

TEST_P(SocketLinkTest, PeerOfAnotherVersionIsToldSoInOurVersion) {
  const std::string sentence =
      "this is Paceline protocol 6, the peer speaks 7: update both sides to the same release";
  EXPECT_THAT(reason_after(raw_frame(header(), "", "", kProtocolVersion + 1)), HasSubstr(sentence));
  const std::string answer = peer->read();
  ASSERT_EQ(answer.size(), kHeaderBytes + sentence.size());
  const FrameHeader refused = decode(std::as_bytes(std::span(answer)).first<kHeaderBytes>());
  EXPECT_EQ(refused.type, kRefusedType);
  EXPECT_EQ(answer.substr(kHeaderBytes), sentence);
  expect_other_link_works();
}

TEST_P(SocketLinkTest, EightBytesOfAnotherVersionAreEnough) {
  EXPECT_THAT(reason_after(raw_frame(header(), "", "", kProtocolVersion + 1).substr(0, 8)),
              HasSubstr("the peer speaks " + std::to_string(kProtocolVersion + 1)));
}

TEST_P(SocketLinkTest, PeerOfAnotherRunIsToldSo) {
  FrameHeader other = header();
  other.run = 8;
  const std::string sentence =
      "this is run 0000000000000007, the peer belongs to run 0000000000000008";
  EXPECT_THAT(reason_after(raw_frame(other, "", "")), HasSubstr(sentence));
  EXPECT_THAT(peer->read(), HasSubstr(sentence));
}

TEST_P(SocketLinkTest, RefusalByAPeerOfAnotherVersionAndRunIsReported) {
  FrameHeader refused;
  refused.type = kRefusedType;
  refused.run = 12345;
  EXPECT_EQ(
      reason_after(raw_frame(refused, "this is Paceline\nprotocol 4", "", kProtocolVersion + 1)),
      "refused by the peer: this is Paceline protocol 4");
}

TEST_P(SocketLinkTest, RefusalIsReportedAlthoughSendingFails) {
  FrameHeader refused;
  refused.type = kRefusedType;
  peer->write(raw_frame(refused, "go away", ""));
  peer.reset();
  bad.link->send(application_header(), "", payload_of(std::string(100'000, 'x')));
  bad.link->send(application_header(), "", payload_of(std::string(100'000, 'x')));
  ASSERT_TRUE(wait([this] { return !bad.reasons.empty(); }));
  EXPECT_EQ(bad.reasons[0], "refused by the peer: go away");
}

TEST_P(SocketLinkTest, RefusalFollowsAMessageThatIsHalfSent) {
  const std::string big(5'000'000, 'x');
  bad.link->send(application_header(), "", payload_of(big));
  peer->write(raw_frame(header(), "", "", kProtocolVersion + 1));
  ASSERT_TRUE(wait([this] { return !bad.link->open(); }));
  std::string all;
  ASSERT_TRUE(poll_until([&] {
    all += peer->read();
    return all.ends_with("same release");
  }));
  EXPECT_TRUE(all.substr(kHeaderBytes, big.size()) == big);
  EXPECT_THAT(all.substr(kHeaderBytes + big.size()),
              HasSubstr("the peer speaks " + std::to_string(kProtocolVersion + 1)));
}

TEST_P(SocketLinkTest, PeerThatAsksForCreditAndDoesNotReadFillsNoQueue) {
  constexpr std::size_t kAsks = 60'000;
  FrameHeader ask = header();
  ask.type = kAskCreditType;
  const std::string frame = raw_frame(ask, "", "");
  std::string asks;
  for (std::size_t i = 0; i < kAsks; ++i) asks += frame;
  std::string_view left_to_write = asks;
  ASSERT_TRUE(poll_until([&] {
    left_to_write.remove_prefix(peer->write(left_to_write));
    return bad.link->counters().bytes_in == asks.size();
  }));
  std::size_t answered = 0;
  const auto read_all = [&] {
    for (std::string bytes = peer->read(); !bytes.empty(); bytes = peer->read()) {
      answered += bytes.size();
    }
  };
  ASSERT_TRUE(poll_until([&] {
    read_all();
    return answered == bad.link->counters().bytes_out;
  }));
  settle();
  read_all();
  EXPECT_GT(answered, 0u);
  EXPECT_LT(answered, asks.size() / 2);
}

TEST_P(SocketLinkTest, ConnectingSideOfAnotherRunLearnsWhy) {
  LinkOptions options;
  options.run = 99;
  Recorder stranger;
  stranger.link = connect(loop, listener->address(), options, stranger, soon());
  stranger.link->send(application_header(), "hello");
  ASSERT_TRUE(wait([&] { return !stranger.reasons.empty(); }));
  EXPECT_EQ(stranger.reasons[0],
            "refused by the peer: this is run 0000000000000007, the peer belongs to run "
            "0000000000000063");
}

INSTANTIATE_TEST_SUITE_P(Wires, SocketLinkTest, testing::Values(Wire::kUnix, Wire::kTcp),
                         wire_name);

// A stream that takes a few bytes at a time: the gathering of messages must survive it.
class SlowStream : public ByteStream {
 public:
  explicit SlowStream(Loop& loop) : loop_(loop) {}
  Transfer read(std::span<const iovec>) override { return {.would_block = true}; }
  Transfer write(std::span<const iovec> from) override {
    std::size_t room = ++writes % 7 * 13;
    Transfer transfer;
    for (const iovec& piece : from) {
      const std::size_t part = std::min(room, piece.iov_len);
      written.append(static_cast<const char*>(piece.iov_base), part);
      transfer.bytes += part;
      room -= part;
    }
    transfer.would_block = transfer.bytes == 0;
    return transfer;
  }
  void wait_readable(std::weak_ptr<StreamUser>) override {}
  void wait_writable(std::weak_ptr<StreamUser> user) override {
    loop_.post([user] {
      if (auto alive = user.lock()) alive->writable();
    });
  }
  void end() override {}
  void close() override {}

  std::string written;
  int writes = 0;

 private:
  Loop& loop_;
};

TEST(SocketLinkWriting, PartialWritesLoseAndRepeatNothing) {
  Loop loop;
  Recorder recorder;
  auto stream = std::make_unique<SlowStream>(loop);
  const SlowStream& slow = *stream;
  auto link = std::make_shared<SocketLink>(loop, std::move(stream), "slow", LinkOptions{});
  link->start(recorder);
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    const std::string meta(static_cast<std::size_t>(i % 5), 'm');
    const std::string payload(static_cast<std::size_t>(i * 7 % 100), 'p');
    link->send(application_header(), meta, payload_of(payload), 0);
    expected += raw_frame(application_header(), meta, payload);
  }
  EXPECT_TRUE(loop.run_until([&] { return slow.written.size() >= expected.size(); },
                             Clock::now() + std::chrono::seconds(20)));
  EXPECT_TRUE(slow.written == expected);
}

}  // namespace
}  // namespace paceline

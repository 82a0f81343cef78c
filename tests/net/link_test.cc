// Promises of every link while it is open: order, priorities, credit, place.
#include "net/link.h"

#include "base/random.h"
#include "net/link_harness.h"

namespace paceline {
namespace {

using testing::ElementsAre;

std::string random_text(Random& random, std::size_t size) {
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(random.below(256));
  return text;
}

TEST_P(LinkTest, FieldsMetadataAndPayloadArriveAsSent) {
  LinkOptions options;
  options.run = 0x1234567890abcdef;
  join(options);
  FrameHeader header = application_header(7);
  header.assignment_epoch = 11;
  header.incarnation = 12;
  header.base_version = 13;
  left.link->send(header, "some metadata", payload_of("the payload"));
  ASSERT_TRUE(wait_for_messages(1));
  const Recorder::Message& message = right.messages[0];
  EXPECT_EQ(message.header.type, header.type);
  EXPECT_EQ(message.header.assignment_epoch, 11u);
  EXPECT_EQ(message.header.incarnation, 12u);
  EXPECT_EQ(message.header.base_version, 13u);
  EXPECT_EQ(message.header.run, options.run);
  EXPECT_EQ(message.meta, "some metadata");
  EXPECT_EQ(message.payload, "the payload");
}

TEST_P(LinkTest, MessageWithoutPayloadNeedsNoPlace) {
  join();
  left.link->send(application_header(), "only metadata");
  left.link->send(application_header(), "");
  ASSERT_TRUE(wait_for_messages(2));
  EXPECT_EQ(right.messages[0].meta, "only metadata");
  EXPECT_EQ(right.placed, 0);
}

TEST_P(LinkTest, ManyMessagesOfAllSizesArriveInOrderBothWays) {
  join();
  Random random(1);
  std::vector<std::string> sent;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t limit = i % 50 == 0 ? 300'000 : 300;
    sent.push_back(random_text(random, random.below(limit)));
    left.link->send(application_header(), sent.back().substr(0, 20), payload_of(sent.back()));
    right.link->send(application_header(), sent.back().substr(0, 30), payload_of(sent.back()));
  }
  ASSERT_TRUE(wait(
      [&] { return right.messages.size() == sent.size() && left.messages.size() == sent.size(); }));
  EXPECT_EQ(right.payloads(), sent);
  EXPECT_EQ(left.payloads(), sent);
  EXPECT_EQ(right.messages.back().meta, sent.back().substr(0, 20));
}

TEST_P(LinkTest, LargePayloadIsReceivedStraightIntoItsPlace) {
  join();
  Random random(2);
  const std::string big = random_text(random, 5'000'003);
  std::span<std::byte> delivered;
  right.on_received = [&](Link&) { delivered = std::as_writable_bytes(std::span(right.memory)); };
  left.link->send(application_header(), "big", payload_of(big));
  ASSERT_TRUE(wait_for_messages(1));
  EXPECT_TRUE(right.messages[0].payload == big);
  EXPECT_TRUE(text_of(delivered) == big);
}

TEST_P(LinkTest, LargeMetadataArrivesWhole) {
  join();
  Random random(3);
  const std::string meta = random_text(random, 700'000);
  left.link->send(application_header(), meta, payload_of("x"));
  ASSERT_TRUE(wait_for_messages(1));
  EXPECT_TRUE(right.messages[0].meta == meta);
}

TEST_P(LinkTest, PayloadOwnerIsLetGoOnceSent) {
  join();
  Payload payload = payload_of("x");
  const std::weak_ptr<const void> owner = payload.owner;
  left.link->send(application_header(), "", std::move(payload));
  EXPECT_TRUE(wait([&] { return owner.expired(); }));
}

TEST_P(LinkTest, UrgentMessagesOvertakeThoseThatWait) {
  LinkOptions options;
  options.window = 10;
  join(options);
  left.link->send(application_header(), "", payload_of("0123456789"), 9);  // fills the window
  left.link->send(application_header(), "", payload_of("late 1"), 5);
  left.link->send(application_header(), "", payload_of("late 2"), 5);
  left.link->send(application_header(), "", payload_of("soon 1"), -1);
  left.link->send(application_header(), "", payload_of("soon 2"), -1);
  ASSERT_TRUE(wait_for_messages(5));
  EXPECT_THAT(right.payloads(), ElementsAre("0123456789", "soon 1", "soon 2", "late 1", "late 2"));
}

TEST_P(LinkTest, MessagesWithoutPayloadKeepTheirPlaceInTheQueue) {
  LinkOptions options;
  options.window = 10;
  join(options);
  left.link->send(application_header(), "1", payload_of("0123456789"));
  left.link->send(application_header(), "2", payload_of("waits"));
  left.link->send(application_header(), "3");
  left.link->send(application_header(), "urgent", {}, -1);
  ASSERT_TRUE(wait_for_messages(4));
  std::vector<std::string> order;
  for (const auto& message : right.messages) order.push_back(message.meta);
  EXPECT_THAT(order, ElementsAre("1", "urgent", "2", "3"));
}

TEST_P(LinkTest, NeverMoreThanTheWindowIsUnderWay) {
  constexpr std::size_t kPayload = 10'000;
  constexpr std::size_t kFrame = kHeaderBytes + kPayload;
  constexpr std::size_t kMessages = 60;
  LinkOptions options;
  options.window = 3 * kPayload;
  join(options);
  // Frames that ask for credit have no payload; there is at most one for each message.
  const auto payload_sent = [&] { return left.link->counters().bytes_out / kFrame * kPayload; };
  std::uint64_t most = 0;
  right.on_place = [&](Link&) {
    most = std::max(most, payload_sent() - right.messages.size() * kPayload);
  };
  for (std::size_t i = 0; i < kMessages; ++i) {
    left.link->send(application_header(), "", payload_of(std::string(kPayload, 'x')));
  }
  EXPECT_EQ(payload_sent(), options.window) << "the window is used, without waiting";
  ASSERT_TRUE(wait_for_messages(kMessages));
  EXPECT_LE(most, options.window);
  EXPECT_GE(most, kPayload);
}

TEST_P(LinkTest, MessageLargerThanTheWindowGoesWhenNothingElseIsUnderWay) {
  LinkOptions options;
  options.window = 1000;
  join(options);
  for (const std::size_t size : {900, 5000, 400, 700, 1'000'000, 1}) {
    left.link->send(application_header(), "", payload_of(std::string(size, 'x')));
  }
  EXPECT_TRUE(wait_for_messages(6));
}

TEST_P(LinkTest, MessageOfMoreThanHalfTheWindowIsNotStuckBehindASmallOne) {
  LinkOptions options;
  options.window = 1000;
  join(options);
  left.link->send(application_header(), "", payload_of(std::string(500, 'x')));
  ASSERT_TRUE(wait_for_messages(1));
  left.link->send(application_header(), "", payload_of(std::string(501, 'x')));
  EXPECT_TRUE(wait_for_messages(2));
}

TEST_P(LinkTest, HandlerMayAnswerFromWithinReceived) {
  join();
  right.on_received = [&](Link& link) {
    link.send(application_header(), "", payload_of(right.messages.back().payload));
  };
  left.on_received = [&](Link& link) {
    if (left.messages.size() < 500) link.send(application_header(), "", payload_of("again"));
  };
  left.link->send(application_header(), "", payload_of("first"));
  EXPECT_TRUE(wait([&] { return left.messages.size() == 500; }));
}

TEST_P(LinkTest, HandlerMayRunTheLoopFromWithinReceived) {
  join();
  right.on_received = [&](Link& link) {
    if (link.open() && right.messages.size() == 1) settle();
  };
  left.link->send(application_header(), "1", payload_of("a"));
  left.link->send(application_header(), "2", payload_of("b"));
  ASSERT_TRUE(wait_for_messages(2));
  EXPECT_THAT(right.payloads(), ElementsAre("a", "b"));
}

TEST_P(LinkTest, OwnerOfAPayloadMaySendTheNextMessageWhenLetGo) {
  join();
  Link* link = left.link.get();
  const std::string bytes = "x";
  {
    const std::shared_ptr<const void> owner(
        &bytes, [link](const void*) { link->send(application_header(), "from the owner"); });
    link->send(application_header(), "first", {std::as_bytes(std::span(bytes)), owner});
  }
  ASSERT_TRUE(wait_for_messages(2));
  EXPECT_EQ(right.messages[1].meta, "from the owner");
}

TEST_P(LinkTest, CountersCountHeadersMetadataAndPayload) {
  join();
  left.link->send(application_header(), "four", payload_of("sixsix"));
  ASSERT_TRUE(wait_for_messages(1));
  EXPECT_EQ(left.link->counters().bytes_out, kHeaderBytes + 10);
  EXPECT_EQ(right.link->counters().bytes_in, kHeaderBytes + 10);
  EXPECT_EQ(left.link->counters().bytes_in, 0u);
}

INSTANTIATE_TEST_SUITE_P(Wires, LinkTest, testing::Values(Wire::kUnix, Wire::kTcp, Wire::kMemory),
                         wire_name);

}  // namespace
}  // namespace paceline

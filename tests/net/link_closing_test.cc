// Promises of every link about its end.
#include "net/link_harness.h"
#include "net/refuse.h"
#include "session/hello.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class LinkClosingTest : public LinkTest {};

TEST_P(LinkClosingTest, BothSidesLearnOnceWhyTheLinkIsGone) {
  join();
  left.link->close("enough");
  EXPECT_FALSE(left.link->open());
  EXPECT_THAT(left.reasons, IsEmpty()) << "closed() comes from the loop";
  left.link->close("again");
  ASSERT_TRUE(wait_for_both_closed());
  settle();
  EXPECT_THAT(left.reasons, ElementsAre("enough"));
  EXPECT_THAT(right.reasons, ElementsAre("the peer closed the connection"));
}

TEST_P(LinkClosingTest, NothingIsSentAfterClosing) {
  join();
  const auto kept = left.link;
  left.link->close("enough");
  const std::uint64_t before = kept->counters().bytes_out;
  kept->send(application_header(), "too late");
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_EQ(kept->counters().bytes_out, before);
  EXPECT_THAT(right.messages, IsEmpty());
}

TEST_P(LinkClosingTest, FlushingSendsEverythingThatIsQueued) {
  LinkOptions options;
  options.window = 50'000;
  join(options);
  for (int i = 0; i < 100; ++i) {
    left.link->send(application_header(), "", payload_of(std::string(30'000, 'x')));
    right.link->send(application_header(), "", payload_of(std::string(3'000, 'y')));
  }
  left.link->close("all said", /*flush=*/true);
  EXPECT_FALSE(left.link->open());
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_EQ(right.messages.size(), 100u);
  EXPECT_THAT(left.reasons, ElementsAre("all said"));
  EXPECT_THAT(left.messages, IsEmpty()) << "nothing is delivered after close()";
}

TEST_P(LinkClosingTest, FlushingGoesOnWhenTheLastPointerIsDropped) {
  LinkOptions options;
  options.window = 50'000;
  join(options);
  for (int i = 0; i < 50; ++i) {
    left.link->send(application_header(), "", payload_of(std::string(30'000, 'x')));
  }
  left.link->close("all said", /*flush=*/true);
  left.link.reset();
  ASSERT_TRUE(wait([&] { return !right.reasons.empty(); }));
  EXPECT_EQ(right.messages.size(), 50u);
  EXPECT_THAT(left.reasons, IsEmpty()) << "who drops a link hears no more of it";
}

TEST_P(LinkClosingTest, BothSidesMayFlushAtTheSameTime) {
  LinkOptions options;
  options.window = 10'000;
  join(options);
  for (int i = 0; i < 50; ++i) {
    left.link->send(application_header(), "", payload_of(std::string(9'000, 'x')));
    right.link->send(application_header(), "", payload_of(std::string(9'000, 'y')));
  }
  left.link->close("left is done", /*flush=*/true);
  right.link->close("right is done", /*flush=*/true);
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(left.reasons, ElementsAre("left is done"));
  EXPECT_THAT(right.reasons, ElementsAre("right is done"));
}

TEST_P(LinkClosingTest, ClosingWithoutFlushDropsWhatIsQueued) {
  LinkOptions options;
  options.window = 10;
  join(options);
  left.link->send(application_header(), "", payload_of("0123456789"));
  left.link->send(application_header(), "", payload_of("waits for credit"));
  left.link->close("enough");
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_LE(right.messages.size(), 1u);
}

TEST_P(LinkClosingTest, FlushingCanBeGivenUp) {
  LinkOptions options;
  options.window = 10;
  join(options);
  left.link->send(application_header(), "", payload_of("0123456789"));
  left.link->send(application_header(), "", payload_of("waits for credit"));
  left.link->close("first", /*flush=*/true);
  left.link->close("second");
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(left.reasons, ElementsAre("first"));
}

TEST_P(LinkClosingTest, DroppingTheLastPointerClosesTheLinkSilently) {
  join();
  left.link.reset();
  ASSERT_TRUE(wait([&] { return !right.reasons.empty(); }));
  EXPECT_THAT(left.reasons, IsEmpty());
  EXPECT_THAT(right.reasons, ElementsAre("the peer closed the connection"));
}

TEST_P(LinkClosingTest, ClosingFromWithinReceivedStopsDelivery) {
  join();
  right.on_received = [](Link& link) { link.close("seen enough"); };
  for (int i = 0; i < 10; ++i) left.link->send(application_header(), "", payload_of("x"));
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_EQ(right.messages.size(), 1u);
  EXPECT_THAT(right.reasons, ElementsAre("seen enough"));
}

TEST_P(LinkClosingTest, ClosingFromWithinPlaceStopsDelivery) {
  join();
  bool flush = false;
  right.on_place = [&](Link& link) { link.close("no room", flush); };
  left.link->send(application_header(), "", payload_of(std::string(200'000, 'x')));
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(right.messages, IsEmpty());
  EXPECT_THAT(right.reasons, ElementsAre("no room"));
}

TEST_P(LinkClosingTest, HandlerMayDropTheLinkAndItselfFromWithinReceived) {
  join();
  int received = 0;
  struct Session : Recorder {
    explicit Session(int& count) : count_(count) {}
    void received(Link&, const FrameHeader&, std::string_view, std::span<std::byte>) override {
      ++count_;
      if (gone) gone();
    }
    int& count_;
    std::function<void()> gone;
  };
  auto session = std::make_unique<Session>(received);
  std::shared_ptr<Link> other;
  Recorder far;
  std::tie(session->link, other) =
      connect_in_memory({&loop, session.get(), "far"}, {&loop, &far, "session"}, {});
  session->gone = [&] { session.reset(); };
  for (int i = 0; i < 3; ++i) other->send(application_header(), "", payload_of("x"));
  right.on_received = [&](Link&) { right.link.reset(); };
  for (int i = 0; i < 3; ++i) left.link->send(application_header(), "", payload_of("x"));
  ASSERT_TRUE(wait([&] { return !left.reasons.empty() && !far.reasons.empty(); }));
  EXPECT_EQ(received, 1);
  EXPECT_EQ(right.messages.size(), 1u);
  EXPECT_THAT(right.reasons, IsEmpty());
}

TEST_P(LinkClosingTest, PayloadMayHoldTheLastPointerToItsLink) {
  LinkOptions options;
  options.window = 10;
  join(options);
  const std::string bytes = "waits for credit";
  left.link->send(application_header(), "", payload_of("0123456789"));
  {
    const std::shared_ptr<const void> owner(&bytes, [kept = left.link](const void*) {});
    left.link->send(application_header(), "", {std::as_bytes(std::span(bytes)), owner});
  }
  left.link.reset();
  ASSERT_TRUE(wait([&] { return !right.reasons.empty(); }));
  EXPECT_THAT(right.payloads(), ElementsAre("0123456789", "waits for credit"));
}

TEST_P(LinkClosingTest, ExceptionOfTheHandlerBecomesTheReason) {
  join();
  right.on_received = [](Link&) { throw std::runtime_error("step 7 is not known here"); };
  left.link->send(application_header(), "x");
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(right.reasons, ElementsAre("step 7 is not known here"));
}

TEST_P(LinkClosingTest, ExceptionInPlaceBecomesTheReason) {
  join();
  right.on_place = [](Link&) { throw std::runtime_error("no such tensor"); };
  left.link->send(application_header(), "", payload_of("x"));
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(right.reasons, ElementsAre("no such tensor"));
}

TEST_P(LinkClosingTest, PlaceOfTheWrongSizeClosesTheLink) {
  join();
  right.place_too_small = 1;
  left.link->send(application_header(3), "", payload_of("four"));
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(right.reasons[0], HasSubstr("type 19 has 4 bytes, its place 3"));
}

TEST_P(LinkClosingTest, PayloadOverTheLimitIsRefusedBeforeAnyoneIsAskedForMemory) {
  LinkOptions strict;
  strict.limits.payload_bytes = 1000;
  join({}, strict);
  left.link->send(application_header(), "", payload_of(std::string(1001, 'x')));
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_EQ(right.placed, 0);
  EXPECT_THAT(right.reasons[0], HasSubstr("1001 bytes of payload, the limit is 1000"));
}

TEST_P(LinkClosingTest, MetadataOverTheLimitIsRefused) {
  LinkOptions strict;
  strict.limits.meta_bytes = 10;
  join({}, strict);
  left.link->send(application_header(), "eleven char");
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(right.reasons[0], HasSubstr("11 bytes of metadata, the limit is 10"));
}

TEST_P(LinkClosingTest, RefusedPeerLearnsWhy) {
  join();
  right.on_received = [](Link& link) { refuse(link, "the configurations differ"); };
  left.link->send(application_header(), "hello", payload_of("x"));
  ASSERT_TRUE(wait_for_both_closed());
  EXPECT_THAT(left.reasons, ElementsAre("refused by the peer: the configurations differ"));
  EXPECT_THAT(right.reasons, ElementsAre("refused the peer: the configurations differ"));
  EXPECT_THAT(left.messages, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Wires, LinkClosingTest,
                         testing::Values(Wire::kUnix, Wire::kTcp, Wire::kMemory), wire_name);

}  // namespace
}  // namespace paceline

#include "session/member_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "net/memory_link.h"
#include "session/failure.h"
#include "session/hello.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Listening : LinkHandler {
  std::span<std::byte> place(Link&, const FrameHeader&, std::string_view) override { return {}; }
  void received(Link&, const FrameHeader&, std::string_view, std::span<std::byte>) override {}
  void closed(Link&, const std::string&) override { gone = true; }
  bool gone = false;
};

// The link calls its handler before the line, which is made with the link, is there.
struct Forward : LinkHandler {
  std::span<std::byte> place(Link& link, const FrameHeader& header,
                             std::string_view meta) override {
    return to->place(link, header, meta);
  }
  void received(Link& link, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override {
    to->received(link, header, meta, payload);
  }
  void closed(Link& link, const std::string& reason) override { to->closed(link, reason); }
  LinkHandler* to = nullptr;
};

// Registers as `role` and sends a message; returns why the line was closed, or "told".
std::string outcome_of(const std::string& role, wire::Type type) {
  Loop loop;
  std::string outcome;
  MemberLine::Events events;
  events.entered = [](MemberLine& line, const wire::Register&) { line.incarnation = 1; };
  events.told = [&](MemberLine&, wire::Type, std::string_view) { outcome = "told"; };
  events.closed = [&](MemberLine&, const Error& cause) { outcome = cause.what(); };
  Listening member;
  Forward forward;
  auto links = connect_in_memory({&loop, &member, "chief"}, {&loop, &forward, "it"}, {});
  MemberLine line(std::move(links.second), "digest", events);
  forward.to = &line;
  const auto say = [&](std::uint16_t type_of, const std::string& meta) {
    FrameHeader header;
    header.type = type_of;
    links.first->send(header, meta);
  };
  wire::Register who;
  who.set_role(role);
  who.set_name(role + "0");
  say(kHelloType, encode_hello({role, "digest"}));
  say(wire::REGISTER, who.SerializeAsString());
  say(static_cast<std::uint16_t>(type), "");
  EXPECT_TRUE(
      loop.run_until([&] { return !outcome.empty(); }, Clock::now() + std::chrono::seconds(20)));
  return outcome;
}

TEST(MemberLine, AMessageOfAnotherRoleClosesTheLine) {
  const std::map<wire::Type, std::string> tellers = {
      {wire::READY, "server"},       {wire::COMPLETE, "server"},     {wire::FENCED, "server"},
      {wire::SCALARS, "server"},     {wire::STOPPED, "server"},      {wire::PREPARED, "worker"},
      {wire::COMMITTED, "worker"},   {wire::WORKER_EPOCH, "worker"}, {wire::NOTE, "worker"},
      {wire::EVALUATED, "evaluator"}};
  for (const auto& [type, teller] : tellers) {
    for (const std::string role : {"server", "worker", "evaluator"}) {
      const std::string outcome = outcome_of(role, type);
      if (role == teller) {
        EXPECT_EQ(outcome, "told") << role << " " << type;
      } else {
        EXPECT_THAT(outcome, AllOf(HasSubstr(role + "0 is a " + role),
                                   HasSubstr("for a " + teller + " to send")));
      }
    }
  }
}

TEST(MemberLine, OfAMemberThatHasSaidWhyItLeavesIsClosedWithThat) {
  Loop loop;
  std::optional<Error> why;
  MemberLine::Events events;
  events.closed = [&](MemberLine&, const Error& cause) { why = cause; };
  Listening member;
  Forward forward;
  auto [left, right] = connect_in_memory({&loop, &member, "chief"}, {&loop, &forward, "it"}, {});
  MemberLine line(std::move(right), "digest", events);
  forward.to = &line;
  const DataError full(Error("the disk is full"), "cannot write x");
  *line.goodbye.emplace().mutable_failure() = failure_of(full);
  left->close("leaving");
  ASSERT_TRUE(
      loop.run_until([&] { return why.has_value(); }, Clock::now() + std::chrono::seconds(20)));
  EXPECT_STREQ(why->what(), full.what());
  EXPECT_EQ(why->code(), ExitCode::kData);
}

TEST(MemberLine, AnyMemberBeatsStopsAndLeaves) {
  for (const std::string role : {"server", "worker", "evaluator"}) {
    for (const wire::Type type : {wire::HEARTBEAT, wire::STOP, wire::GOODBYE}) {
      EXPECT_EQ(outcome_of(role, type), "told") << role << " " << type;
    }
  }
}

struct Welcomed : Listening {
  void received(Link&, const FrameHeader& header, std::string_view, std::span<std::byte>) override {
    welcomed = welcomed || header.type == kWelcomeType;
  }
  bool welcomed = false;
};

// Connects and says hello; looks after the line when it is `age` old. Whether it is still open.
bool stays_open(std::uint32_t incarnation, Duration age) {
  Loop loop;
  MemberLine::Events events;
  events.closed = [](MemberLine&, const Error& cause) {
    EXPECT_THAT(cause.what(), HasSubstr("has not registered in 10"));
  };
  Welcomed member;
  Forward forward;
  auto links = connect_in_memory({&loop, &member, "chief"}, {&loop, &forward, "it"}, {});
  MemberLine line(std::move(links.second), "digest", events);
  forward.to = &line;
  FrameHeader hello;
  hello.type = kHelloType;
  links.first->send(hello, encode_hello({"worker", "digest"}));
  EXPECT_TRUE(
      loop.run_until([&] { return member.welcomed; }, Clock::now() + std::chrono::seconds(20)));
  line.incarnation = incarnation;
  line.expect_registered(line.opened + age, std::chrono::seconds(10));
  loop.poll();
  return line.open();
}

TEST(MemberLine, WhoGreetsAndDoesNotRegisterIsTurnedAway) {
  EXPECT_TRUE(stays_open(0, std::chrono::milliseconds(9999)));
  EXPECT_FALSE(stays_open(0, std::chrono::seconds(10)));
}

TEST(MemberLine, WhoHasRegisteredStays) {
  EXPECT_TRUE(stays_open(1, std::chrono::hours(1)));
}

// A run may have many members, one after the other.
TEST(MemberLine, LetsGoOfItsLinkWhenTheMemberIsGoneAndKeepsItsFigures) {
  Loop loop;
  bool closed = false;
  MemberLine::Events events;
  events.closed = [&](MemberLine& line, const Error&) {
    EXPECT_EQ(line.peer(), "it");
    closed = true;
  };
  Listening member;
  Forward forward;
  auto links = connect_in_memory({&loop, &member, "chief"}, {&loop, &forward, "it"}, {});
  const std::weak_ptr<Link> link = links.second;
  MemberLine line(std::move(links.second), "digest", events);
  forward.to = &line;
  FrameHeader hello;
  hello.type = kHelloType;
  links.first->send(hello, encode_hello({"worker", "digest"}));
  links.first->close("gone", true);
  ASSERT_TRUE(loop.run_until([&] { return closed; }, Clock::now() + std::chrono::seconds(20)));
  loop.poll();
  EXPECT_TRUE(link.expired());
  EXPECT_FALSE(line.open());
  EXPECT_GT(line.counters().bytes_in, 0U);
  line.send(hello, {});  // to nobody
  line.close("again");
}

}  // namespace
}  // namespace paceline

// Clients that do not follow the protocol: a server remembers only so much for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "exchange/ps/scripted_server.h"
#include "exchange/ps/server.h"
#include "exchange/ps/shard.h"
#include "net/memory_link.h"
#include "session/hello.h"

namespace paceline {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMostReads = 64;

wire::Pull pull_of(std::uint64_t version, std::uint64_t ticket) {
  wire::Pull pull;
  pull.set_version(version);
  pull.set_ticket(ticket);
  return pull;
}

TEST(ServerReaders, OfOneClientOnlySoManyReadsWait) {
  ScriptedServer server;
  for (std::uint64_t i = 1; i <= kMostReads; ++i) server.core.pull(1, 1, pull_of(1, i));
  EXPECT_THROW(server.core.pull(1, 1, pull_of(1, kMostReads + 1)), FrameError);
  // Others are not held liable, and what waits is answered.
  server.core.pull(2, 2, pull_of(1, 1));
  std::size_t answers = 0;
  const wire::Push push = ScriptedServer::push_of(0, 0, {0, 4});
  for (const ServerAction& action : server.core.push({3, 3, 1, 0}, push)) {
    answers += std::holds_alternative<SendParams>(action) ? 1 : 0;
  }
  EXPECT_EQ(answers, kMostReads + 2);
  server.core.pull(1, 1, pull_of(2, 1));  // and then it may ask again
}

TEST(ServerReaders, OfOneClientOnlySoManyReadsWaitForOthersToCatchUp) {
  ServerCore::Options options = ScriptedServer::options();
  options.mode = Mode::kSsp;
  options.rows = true;
  ScriptedServer server(options);
  wire::Pull join;
  join.set_latest(true);
  server.core.pull(1, 1, join);
  server.core.pull(2, 2, join);
  wire::Push push = ScriptedServer::push_of(0, 0, {0, 4});
  push.set_clock(1);
  server.core.push({1, 1, 0, 0}, push);  // ahead of worker 2 now
  for (std::uint64_t i = 0; i < kMostReads; ++i) server.core.pull(1, 1, join);
  EXPECT_THROW(server.core.pull(1, 1, join), FrameError);
}

TEST(ServerReaders, NobodyWaitsForAVersionBeyondTheEnd) {
  ServerCore::Options options = ScriptedServer::options();
  options.last_version = 10;
  ScriptedServer server(options);
  server.core.pull(1, 1, pull_of(10, 1));
  EXPECT_THROW(server.core.pull(1, 1, pull_of(11, 2)), FrameError);
}

struct Silent : LinkHandler {
  std::span<std::byte> place(Link&, const FrameHeader& header, std::string_view) override {
    memory.resize(header.payload_bytes);
    return std::as_writable_bytes(std::span(memory));
  }
  void received(Link&, const FrameHeader&, std::string_view, std::span<std::byte>) override {}
  void closed(Link&, const std::string&) override { gone = true; }
  std::string memory;
  bool gone = false;
};

struct Forward : LinkHandler {
  std::span<std::byte> place(Link& link, const FrameHeader& header,
                             std::string_view meta) override {
    return to->place(link, header, meta);
  }
  void received(Link& link, const FrameHeader& header, std::string_view meta,
                std::span<std::byte> payload) override {
    to->received(link, header, meta, payload);
  }
  void closed(Link& link, const std::string& why) override {
    reason = why;
    to->closed(link, why);
  }
  LinkHandler* to = nullptr;
  std::string reason;
};

// Cannot answer: its memory is used up, say.
class Failing : public Holding {
 public:
  explicit Failing(std::unique_ptr<Holding> shard) : shard_(std::move(shard)) {}
  Gradient landing(ClientId client, const wire::Push& push, Range tiles) override {
    return shard_->landing(client, push, tiles);
  }
  void accumulate(std::uint32_t, bool, Range, Gradient) override {}
  bool is_finite(std::uint32_t, std::uint64_t) override { return true; }
  Norm measure(std::uint64_t) override { return {}; }
  void apply(const Apply&, const Gradient&) override {}
  void pin(std::uint64_t) override {}
  void release(std::uint64_t) override {}
  Answer answer(const SendParams&) override { throw std::bad_alloc(); }

 private:
  std::unique_ptr<Holding> shard_;
};

// A server with one chunk of four floats, and a client.
class ServerOfOne {
 public:
  explicit ServerOfOne(bool fails = false) {
    const ServerCore::Options options = ScriptedServer::options();
    ShardOptions shard_options;
    shard_options.grid = options.grid;
    auto shard = std::make_unique<Shard>(ChunkMap(4, 1), 0, shard_options,
                                         Schedule({}, 1, options.grid.examples, 1));
    shard->load(0, 0, std::vector<float>(4), {});
    std::unique_ptr<Holding> holding = std::move(shard);
    if (fails) holding = std::make_unique<Failing>(std::move(holding));
    server_ = std::make_unique<PsServer>(
        options, std::move(holding), "digest", [](const ChiefWord&) {},
        [this] { failure = current_error(); });
    links_ = connect_in_memory({&loop_, &client, "server"}, {&loop_, &forward, "client"}, {});
    forward.to = server_->accept(std::move(links_.second));
    say(kHelloType, 0, encode_hello({"worker", "digest"}));
  }
  void say(std::uint16_t type, std::uint32_t incarnation, const std::string& meta) {
    FrameHeader header;
    header.type = type;
    header.incarnation = incarnation;
    links_.first->send(header, meta);
  }
  bool until(const std::function<bool()>& done) {
    return loop_.run_until(done, Clock::now() + std::chrono::seconds(20));
  }

 private:
  Loop loop_;

 public:
  Silent client;
  Forward forward;
  std::optional<Error> failure;  // of the server

 private:
  std::unique_ptr<PsServer> server_;
  std::pair<std::shared_ptr<Link>, std::shared_ptr<Link>> links_;
};

// Clocks are kept by incarnation: a client must not make up one after the other.
TEST(ServerReaders, AClientKeepsItsIncarnation) {
  ServerOfOne server;
  server.say(wire::PULL, 7, pull_of(0, 1).SerializeAsString());
  server.say(wire::PULL, 8, pull_of(0, 2).SerializeAsString());
  ASSERT_TRUE(server.until([&] { return server.client.gone; }));
  EXPECT_THAT(server.forward.reason, HasSubstr("incarnation 8 speaks on the line of 7"));
  EXPECT_FALSE(server.failure);
}

TEST(ServerReaders, AServersOwnFailureIsNotItsClients) {
  ServerOfOne server(/*fails=*/true);
  server.say(wire::PULL, 7, pull_of(0, 0).SerializeAsString());
  ASSERT_TRUE(server.until([&] { return server.failure.has_value(); }));
  EXPECT_THAT(server.failure->what(), HasSubstr("not enough memory"));
  EXPECT_FALSE(server.client.gone);
}

}  // namespace
}  // namespace paceline

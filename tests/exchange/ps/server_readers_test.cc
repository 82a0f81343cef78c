// Clients that do not follow the protocol: a server remembers only so much for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// Clocks are kept by incarnation: a client must not make up one after the other.
TEST(ServerReaders, AClientKeepsItsIncarnation) {
  Loop loop;
  const ServerCore::Options options = ScriptedServer::options();
  ShardOptions shard_options;
  shard_options.grid = options.grid;
  auto shard = std::make_unique<Shard>(ChunkMap(4, 1), 0, shard_options,
                                       Schedule({}, 1, options.grid.examples, 1));
  shard->load(0, 0, std::vector<float>(4), {});
  PsServer server(options, std::move(shard), "digest", [](const ChiefWord&) {});
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
  Silent client;
  Forward forward;
  auto links = connect_in_memory({&loop, &client, "server"}, {&loop, &forward, "client"}, {});
  forward.to = server.accept(std::move(links.second));
  const auto say = [&](std::uint16_t type, std::uint32_t incarnation, const std::string& meta) {
    FrameHeader header;
    header.type = type;
    header.incarnation = incarnation;
    links.first->send(header, meta);
  };
  say(kHelloType, 0, encode_hello({"worker", "digest"}));
  say(wire::PULL, 7, pull_of(0, 1).SerializeAsString());
  say(wire::PULL, 8, pull_of(0, 2).SerializeAsString());
  ASSERT_TRUE(loop.run_until([&] { return client.gone; }, Clock::now() + std::chrono::seconds(20)));
  EXPECT_THAT(forward.reason, HasSubstr("incarnation 8 speaks on the line of 7"));
}

}  // namespace
}  // namespace paceline

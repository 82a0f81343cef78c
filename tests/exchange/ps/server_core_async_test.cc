#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/ps/scripted_server.h"
#include "exchange/ps/server_core.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ServerCore::Options async_options(std::vector<std::uint32_t> chunks = {0}) {
  ServerCore::Options options = ScriptedServer::options(std::move(chunks));
  options.mode = Mode::kAsync;
  return options;
}

ServerCore::Options ssp_options(std::uint64_t staleness) {
  ServerCore::Options options = async_options();
  options.mode = Mode::kSsp;
  options.staleness = staleness;
  return options;
}

TEST(AsyncServer, AppliesEveryLeaseWhenItArrives) {
  ScriptedServer server(async_options());
  EXPECT_THAT(server.pull_latest(1), ElementsAre("1 <- params 0 version 0"));
  EXPECT_THAT(
      server.push_lease(1, 0, 5),
      ElementsAre("apply 0: step 5, weight 4, scale 1 -> version 1", "1 <- params 0 version 1"));
  EXPECT_THAT(
      server.push_lease(2, 0, 3),
      ElementsAre("apply 0: step 3, weight 4, scale 1 -> version 2", "2 <- params 0 version 2"));
}

TEST(AsyncServer, KnowsWhatAContributorHolds) {
  ScriptedServer server(ssp_options(0));
  wire::Pull pull;
  pull.set_latest(true);
  EXPECT_THAT(held_by_receivers(server.core.pull(1, 1, pull)), ElementsAre("1: ?"));
  server.core.pull(2, 2, pull);
  // Worker 1 has to wait, and then still holds what it had.
  wire::Push push = server.push_of(0, 5, {0, 4});
  push.set_clock(1);
  EXPECT_THAT(held_by_receivers(server.core.push({1, 1, 0, 0}, push)), IsEmpty());
  push.set_step(3);
  EXPECT_THAT(held_by_receivers(server.core.push({2, 2, 0, 0}, push)), ElementsAre("2: 0", "1: 0"));
  wire::Push last = server.push_of(0, 4, {0, 4});
  last.set_last_lease(true);
  EXPECT_THAT(held_by_receivers(server.core.push({2, 2, 0, 2}, last)), ElementsAre("2: 2"));
  EXPECT_THAT(held_by_receivers(server.core.pull(2, 2, pull)), ElementsAre("2: ?"));
}

TEST(AsyncServer, AppliesALeaseOnceWhoeverSendsIt) {
  ScriptedServer server(async_options());
  server.push_lease(1, 0, 5);
  EXPECT_THAT(server.push_lease(2, 0, 5), ElementsAre("2 <- params 0 version 1"));
  EXPECT_EQ(server.report().examples(), 4u);
}

TEST(AsyncServer, RefusesAPartOfALease) {
  ScriptedServer server(async_options());
  EXPECT_THAT(lines(server.core.push({1, 1, 0, 0}, ScriptedServer::push_of(0, 5, {0, 3}))),
              ElementsAre("1 <- OVERLAP 0 step 5"));
  EXPECT_EQ(server.core.version(), 0u);
}

TEST(AsyncServer, CountsWhatAWorkerSkipped) {
  ScriptedServer server(async_options({0, 1}));
  for (const std::uint32_t chunk : {0, 1}) {
    wire::Push push = ScriptedServer::push_of(chunk, 0, {0, 4});
    push.set_scale(0);
    EXPECT_THAT(lines(server.core.push({1, 1, 0, 0}, push)).front(),
                fmt::format("apply {}: step 0, weight 4, scale 0 -> version 1", chunk));
  }
  EXPECT_EQ(server.report().skipped(), 1u);
}

TEST(AsyncServer, TellsTheScheduleHowManyExamplesAreCommitted) {
  ServerCore::Options options = async_options();
  options.grid.examples = 9;  // the steps of an epoch have 4, 4 and 1 examples
  options.version = 2;
  options.applied = {{0, 1}, {2, 3}};
  ScriptedServer server(options);
  const auto& actions = server.core.push({1, 1, 0, 0}, ScriptedServer::push_of(0, 1, {0, 4}));
  EXPECT_EQ(std::get<Apply>(actions.front()).examples_before, 5u);
}

TEST(AsyncServer, KnowsAfterAResumeWhatWasApplied) {
  ServerCore::Options options = async_options();
  options.version = 4;
  options.applied = {{0, 3}, {5, 6}};
  ScriptedServer server(options);
  EXPECT_THAT(server.push_lease(1, 0, 5), ElementsAre("1 <- params 0 version 4"));
  EXPECT_THAT(server.push_lease(1, 0, 3).front(),
              "apply 0: step 3, weight 4, scale 1 -> version 5");
  EXPECT_THAT(lines(server.core.stop()), ElementsAre("chief <- stopped at 5 0-4 5-6"));
}

TEST(AsyncServer, PinsAVersionWhenEveryChunkIsThere) {
  ScriptedServer server(async_options({0, 1}));
  server.push_lease(1, 0, 0);
  EXPECT_THAT(lines(server.core.pin(1)), IsEmpty());
  EXPECT_THAT(server.push_lease(1, 1, 0),
              ElementsAre("apply 1: step 0, weight 4, scale 1 -> version 1",
                          "1 <- params 1 version 1", "pin 1", "chief <- complete 1 pinned"));
  server.push_lease(1, 0, 1);
  EXPECT_THAT(server.pull(2, 0, 1), ElementsAre("2 <- params 0 version 1"));
  EXPECT_THAT(lines(server.core.unpin(1)), ElementsAre("release 1"));
  EXPECT_THAT(server.pull(2, 0, 1), ElementsAre("2 <- GONE 0 step 1"));
}

TEST(AsyncServer, SaysWhenItsChunksDiffer) {
  ScriptedServer server(async_options({0, 1}));
  server.push_lease(1, 0, 0);
  EXPECT_FALSE(server.core.applied().has_value());
  server.push_lease(1, 1, 0);
  ASSERT_TRUE(server.core.applied().has_value());
  EXPECT_THAT(server.core.applied()->ranges(), ElementsAre(Range{0, 1}));
  server.push_lease(1, 1, 1);
  EXPECT_THAT(lines(server.core.stop()), ElementsAre("chief <- stopped at 1, uneven"));
  EXPECT_THAT(server.push_lease(1, 0, 1), IsEmpty());
}

TEST(AsyncServer, RefusesTheDead) {
  ScriptedServer server(async_options());
  server.fence(1, {2});
  EXPECT_THAT(server.push_lease(2, 0, 0), ElementsAre("2 <- FENCED 0 step 0"));
  EXPECT_THAT(server.pull_latest(2), ElementsAre("2 <- FENCED 0 step 0"));
}

// ---- bounded staleness -----------------------------------------------------------------

// Worker 1 is two clocks ahead of worker 2, with a bound of one: its read waits. Its push
// is acknowledged all the same, so that the lease commits.
ScriptedServer waiting_reader() {
  ScriptedServer server(ssp_options(1));
  server.pull_latest(1);
  server.pull_latest(2);
  EXPECT_THAT(
      server.push_lease(1, 0, 0),
      ElementsAre("apply 0: step 0, weight 4, scale 1 -> version 1", "1 <- params 0 version 1"));
  EXPECT_THAT(server.push_lease(1, 0, 1),
              ElementsAre("apply 0: step 1, weight 4, scale 1 -> version 2", "1 <- ack 0 step 1"));
  return server;
}

TEST(SspServer, ReleasesAReaderWhenTheSlowestPushes) {
  ScriptedServer server = waiting_reader();
  EXPECT_THAT(server.push_lease(2, 0, 2),
              ElementsAre("apply 0: step 2, weight 4, scale 1 -> version 3",
                          "2 <- params 0 version 3", "1 <- params 0 version 3"));
}

TEST(SspServer, ReleasesAReaderWhenTheSlowestHasNothingLeft) {
  ScriptedServer server = waiting_reader();
  server.pull_latest(3);
  // Worker 3 joined at the smallest clock, so worker 2's idling alone releases nobody.
  EXPECT_THAT(
      server.push_lease(2, 0, 2, true),
      ElementsAre("apply 0: step 2, weight 4, scale 1 -> version 3", "2 <- params 0 version 3"));
  EXPECT_THAT(server.push_lease(3, 0, 3, true),
              ElementsAre("apply 0: step 3, weight 4, scale 1 -> version 4",
                          "3 <- params 0 version 4", "1 <- params 0 version 4"));
}

TEST(SspServer, ReleasesAReaderWhenTheSlowestLeaves) {
  ScriptedServer server = waiting_reader();
  EXPECT_THAT(lines(server.core.client_gone(2, 2)), ElementsAre("1 <- params 0 version 2"));
}

TEST(SspServer, ReleasesAReaderWhenTheSlowestIsFenced) {
  ScriptedServer server = waiting_reader();
  EXPECT_THAT(server.fence(1, {2}),
              ElementsAre("1 <- params 0 version 2", "chief <- fenced 1: open 2, untouched 2"));
}

TEST(SspServer, WaitsForNobodyWhoIdles) {
  ScriptedServer server(ssp_options(0));
  server.pull_latest(1);
  server.pull_latest(2);
  server.push_lease(2, 0, 0, true);
  for (std::uint64_t step = 1; step < 10; ++step) {
    EXPECT_THAT(server.push_lease(1, 0, step).back(),
                fmt::format("1 <- params 0 version {}", step + 1));
  }
}

TEST(SspServer, TakesBackAnIdlerAtTheSmallestClock) {
  ScriptedServer server(ssp_options(0));
  server.pull_latest(1);
  server.pull_latest(2);
  server.push_lease(2, 0, 0, true);
  for (std::uint64_t step = 1; step < 10; ++step) server.push_lease(1, 0, step);
  EXPECT_THAT(server.pull_latest(2), ElementsAre("2 <- params 0 version 10"));
  // Both have the same clock: whoever pushes first waits for the other.
  EXPECT_THAT(server.push_lease(1, 0, 10).back(), "1 <- ack 0 step 10");
  EXPECT_THAT(server.push_lease(2, 0, 11),
              ElementsAre("apply 0: step 11, weight 4, scale 1 -> version 12",
                          "2 <- params 0 version 12", "1 <- params 0 version 12"));
}

// The first server that a worker joins at chooses its clock; the others are told.
TEST(SspServer, GivesAWorkerTheClockItHasElsewhere) {
  ScriptedServer server(ssp_options(0));
  wire::Pull pull;
  pull.set_latest(true);
  const auto clock_of = [](const ServerCore::Actions& actions) {
    return std::get<SendParams>(actions.back()).clock;
  };
  EXPECT_EQ(clock_of(server.core.pull(1, 1, pull)), 0U);
  server.push_lease(1, 0, 0);
  server.push_lease(1, 0, 1);
  EXPECT_EQ(clock_of(server.core.pull(2, 2, pull)), 2U);
  pull.set_clock(7);
  EXPECT_THAT(lines(server.core.pull(3, 3, pull)), IsEmpty());  // there it waits for the others
  pull.set_clock(2);
  EXPECT_EQ(clock_of(server.core.pull(4, 4, pull)), std::nullopt);  // it knows
}

// Rows are read apart from pushes; what waits is answered in its order.
TEST(RowServer, AnswersReadsByTheirTickets) {
  ServerCore::Options options = ssp_options(0);
  options.rows = true;
  ScriptedServer server(options);
  wire::Pull pull;
  pull.set_latest(true);
  const auto tickets = [](const ServerCore::Actions& actions) {
    std::vector<std::string> all;
    for (const ServerAction& action : actions) {
      const auto* send = std::get_if<SendParams>(&action);
      if (send) all.push_back(fmt::format("{}: {}", send->client, send->ticket));
    }
    return all;
  };
  pull.set_ticket(11);
  EXPECT_THAT(tickets(server.core.pull(1, 1, pull)), ElementsAre("1: 11"));
  pull.set_ticket(21);
  EXPECT_THAT(tickets(server.core.pull(2, 2, pull)), ElementsAre("2: 21"));
  EXPECT_THAT(server.push_lease(1, 0, 0),
              ElementsAre("apply 0: step 0, weight 4, scale 1 -> version 1", "1 <- ack 0 step 0"));
  pull.set_clock(1);
  pull.set_ticket(12);
  EXPECT_THAT(tickets(server.core.pull(1, 1, pull)), IsEmpty());  // worker 2 is behind
  pull.set_ticket(13);
  EXPECT_THAT(tickets(server.core.pull(1, 1, pull)), IsEmpty());
  wire::Push push = server.push_of(0, 1, {0, 4});
  push.set_clock(1);
  EXPECT_THAT(tickets(server.core.push({2, 2, 0, 0}, push)), ElementsAre("1: 12", "1: 13"));
}

}  // namespace
}  // namespace paceline

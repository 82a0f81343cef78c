#include "exchange/ps/server_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/ps/scripted_server.h"
#include "net/frame.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SyncServer, AppliesAStepWhenItsTilesAreCovered) {
  ScriptedServer server;
  EXPECT_THAT(server.push(1, 0, 0, {0, 1}), ElementsAre("start 0"));
  EXPECT_THAT(server.push(2, 0, 0, {2, 4}), ElementsAre("add to 0"));
  EXPECT_EQ(server.core.version(), 0u);
  // Whoever contributed gets the next version, in the order in which they asked.
  EXPECT_THAT(
      server.push(3, 0, 0, {1, 2}),
      ElementsAre("add to 0", "apply 0: step 0, weight 4, scale 1 -> version 1",
                  "1 <- params 0 version 1", "2 <- params 0 version 1", "3 <- params 0 version 1"));
  EXPECT_EQ(server.core.version(), 1u);
}

TEST(SyncServer, KnowsWhatAContributorHolds) {
  ScriptedServer server;
  server.whole_step(0);
  wire::Pull pull;
  pull.set_version(2);
  server.core.pull(5, 5, pull);
  server.push(1, 0, 1, {0, 3});
  EXPECT_THAT(held_by_receivers(server.core.push({2, 2, 1, 1}, server.push_of(0, 1, {3, 4}))),
              ElementsAre("5: ?", "1: 1", "2: 1"));
}

TEST(SyncServer, CountsADuplicateOnce) {
  ScriptedServer server;
  server.push(1, 0, 0, {0, 2});
  // A whole share, or part of what was seen: known already. Its sender waits like others.
  EXPECT_THAT(server.push(2, 0, 0, {0, 2}), IsEmpty());
  EXPECT_THAT(server.push(3, 0, 0, {1, 2}), IsEmpty());
  EXPECT_THAT(server.push(3, 0, 0, {1, 2}), IsEmpty());
  EXPECT_THAT(server.push(4, 0, 0, {2, 4}),
              ElementsAre("add to 0", "apply 0: step 0, weight 4, scale 1 -> version 1",
                          "1 <- params 0 version 1", "2 <- params 0 version 1",
                          "3 <- params 0 version 1", "4 <- params 0 version 1"));
  // After the step is applied, whatever a late copy covers was seen.
  EXPECT_THAT(server.push(5, 0, 0, {1, 3}), ElementsAre("5 <- params 0 version 1"));
}

TEST(SyncServer, RefusesAPartialOverlapWithWhatIsMissing) {
  ScriptedServer server;
  server.push(1, 0, 0, {1, 2});
  EXPECT_THAT(server.push(2, 0, 0, {1, 4}), ElementsAre("2 <- OVERLAP 0 step 0, missing 0-1 2-4"));
  EXPECT_THAT(server.push(2, 0, 0, {2, 4}), ElementsAre("add to 0"));
}

TEST(SyncServer, RefusesWhatIsNotOfTheOpenStep) {
  ScriptedServer server;
  server.whole_step(0);
  EXPECT_THAT(server.push(1, 0, 2, {0, 1}), ElementsAre("1 <- FUTURE 0 step 2"));
  const Sender computed_from_version_0{1, 1, 1, 0};
  EXPECT_THAT(
      lines(server.core.push(computed_from_version_0, ScriptedServer::push_of(0, 1, {0, 1}))),
      ElementsAre("1 <- BASE 0 step 1"));
  server.push(1, 0, 1, {0, 1}, 7);
  EXPECT_THAT(server.push(2, 0, 1, {1, 2}, 6), ElementsAre("2 <- STALE_ASSIGNMENT 0 step 1"));
  EXPECT_THAT(server.push(2, 0, 1, {1, 2}, 7), ElementsAre("add to 0"));
}

TEST(SyncServer, ThrowsForWhatDoesNotExist) {
  ScriptedServer server;
  EXPECT_THROW(server.push(1, 0, 0, {0, 5}), FrameError);
  EXPECT_THROW(server.push(1, 0, 0, {3, 2}), FrameError);
  EXPECT_THROW(server.push(1, 8, 0, {0, 1}), FrameError);
  EXPECT_THROW(server.pull(1, 8, 0), FrameError);
}

TEST(SyncServer, AnswersAPullWithExactlyThatVersion) {
  ScriptedServer server;
  EXPECT_THAT(server.pull(1, 0, 0), ElementsAre("1 <- params 0 version 0"));
  EXPECT_THAT(server.pull(1, 0, 2), IsEmpty());  // waits
  EXPECT_THAT(server.pull(1, 0, 2), IsEmpty());  // once
  EXPECT_THAT(server.push(9, 0, 0, {0, 4}),
              ElementsAre("start 0", "apply 0: step 0, weight 4, scale 1 -> version 1",
                          "9 <- params 0 version 1"));
  EXPECT_THAT(server.push(9, 0, 1, {0, 4}),
              ElementsAre("start 0", "apply 0: step 1, weight 4, scale 1 -> version 2",
                          "1 <- params 0 version 2", "9 <- params 0 version 2"));
}

TEST(SyncServer, SendsTheOptimizersStateWhenAsked) {
  ScriptedServer server;
  wire::Pull pull;
  pull.set_state(true);
  EXPECT_THAT(lines(server.core.pull(1, 1, pull)),
              ElementsAre("1 <- params 0 version 0 with state"));
}

TEST(SyncServer, KeepsTheVersionBefore) {
  ScriptedServer server;
  server.whole_step(0);
  EXPECT_THAT(server.pull(1, 0, 0), ElementsAre("1 <- params 0 version 0"));
  server.whole_step(1);
  EXPECT_THAT(server.pull(1, 0, 1), ElementsAre("1 <- params 0 version 1"));
  EXPECT_THAT(server.pull(1, 0, 0), ElementsAre("1 <- GONE 0 step 0"));
}

// Then its driver keeps the optimizer's state of the version before, which costs memory.
TEST(SyncServer, KnowsWhetherARunThatEndsMayGoBack) {
  ServerCore::Options alone = ScriptedServer::options({0});
  EXPECT_FALSE(alone.may_go_back());
  ServerCore::Options one_of_two = alone;
  one_of_two.servers = 2;
  EXPECT_TRUE(one_of_two.may_go_back());
  ServerCore::Options by_chunks = ScriptedServer::options({0, 1});
  EXPECT_TRUE(by_chunks.may_go_back());
  by_chunks.rules.clip = 1;  // looks at the whole step
  EXPECT_FALSE(by_chunks.may_go_back());
  by_chunks.servers = 2;
  EXPECT_TRUE(by_chunks.may_go_back());
  by_chunks.mode = Mode::kAsync;
  EXPECT_FALSE(by_chunks.may_go_back());
}

// Of a step that is applied to one chunk and not to the other, only the version before is whole:
// the state of either is read with it.
TEST(SyncServer, AnswersWithTheStateOfTheVersionItGoesBackTo) {
  ScriptedServer server(ScriptedServer::options({0, 1}));
  server.push(1, 0, 0, {0, 4});
  server.core.stop();
  EXPECT_EQ(server.core.version(), 0U);
  for (const std::uint32_t chunk : {0, 1}) {
    wire::Pull pull;
    pull.set_chunk(chunk);
    pull.set_state(true);
    const auto& actions = server.core.pull(7, 0, pull);
    ASSERT_EQ(actions.size(), 1U);
    const auto* send = std::get_if<SendParams>(&actions.front());
    ASSERT_NE(send, nullptr) << "chunk " << chunk;
    EXPECT_EQ(send->version, 0U);
    EXPECT_TRUE(send->state);
  }
}

TEST(SyncServer, HasNothingFromBeforeItsStart) {
  ServerCore::Options options = ScriptedServer::options();
  options.version = 7;
  ScriptedServer server(options);
  EXPECT_THAT(server.pull(1, 0, 6), ElementsAre("1 <- GONE 0 step 6"));
  EXPECT_THAT(server.pull(1, 0, 7), ElementsAre("1 <- params 0 version 7"));
}

TEST(SyncServer, ForgetsReadersThatAreGone) {
  ScriptedServer server;
  server.pull(1, 0, 1);
  server.pull(2, 0, 1);
  EXPECT_THAT(lines(server.core.client_gone(1, 1)), IsEmpty());
  EXPECT_THAT(server.push(9, 0, 0, {0, 4}),
              ElementsAre("start 0", "apply 0: step 0, weight 4, scale 1 -> version 1",
                          "2 <- params 0 version 1", "9 <- params 0 version 1"));
}

TEST(SyncServer, AppliesChunksOneByOneWhenNothingIsStepWide) {
  ScriptedServer server(ScriptedServer::options({0, 1}));
  EXPECT_THAT(server.push(1, 1, 0, {0, 4}),
              ElementsAre("start 1", "apply 1: step 0, weight 4, scale 1 -> version 1",
                          "1 <- params 1 version 1"));
  EXPECT_EQ(server.core.version(), 0u);
  EXPECT_THAT(server.pull(2, 1, 0), ElementsAre("2 <- params 1 version 0"));
  server.push(1, 0, 0, {0, 4});
  EXPECT_EQ(server.core.version(), 1u);
}

TEST(SyncServer, RefusesTheNextStepWhileAnotherChunkLacksThisOne) {
  ServerCore::Options options = ScriptedServer::options({0, 1});
  options.grid.examples = 9;  // the steps of an epoch have 4, 4 and 1 tiles
  options.version = 2;
  ScriptedServer server(options);
  server.push(1, 1, 2, {0, 1});
  // Its sender cannot hold version 3 of chunk 0: nobody does.
  EXPECT_THAT(server.push(2, 1, 3, {0, 4}), ElementsAre("2 <- FUTURE 1 step 3"));
  server.push(1, 0, 2, {0, 1});
  EXPECT_THAT(server.push(2, 1, 3, {0, 3}), ElementsAre("start 1"));
}

TEST(SyncServer, PinsTheEndsOfEpochs) {
  ServerCore::Options options = ScriptedServer::options();
  options.version = 24;
  ScriptedServer server(options);
  EXPECT_THAT(server.push(1, 0, 24, {0, 4}),
              ElementsAre("start 0", "apply 0: step 24, weight 4, scale 1 -> version 25",
                          "1 <- params 0 version 25", "pin 25", "chief <- complete 25 pinned"));
  server.whole_step(25);
  server.whole_step(26);
  EXPECT_THAT(server.pull(1, 0, 25), ElementsAre("1 <- params 0 version 25"));
  EXPECT_THAT(lines(server.core.unpin(25)), ElementsAre("release 25"));
  EXPECT_THAT(server.pull(1, 0, 25), ElementsAre("1 <- GONE 0 step 25"));
  EXPECT_THAT(lines(server.core.unpin(25)), IsEmpty());
}

TEST(SyncServer, PinsTheRunsEndWhereverItIs) {
  ServerCore::Options options = ScriptedServer::options();
  options.last_version = 2;
  ScriptedServer server(options);
  server.whole_step(0);
  EXPECT_THAT(server.push(1, 0, 1, {0, 4}),
              ElementsAre("start 0", "apply 0: step 1, weight 4, scale 1 -> version 2",
                          "1 <- params 0 version 2", "pin 2", "chief <- complete 2 pinned"));
}

TEST(SyncServer, GoesNoFurtherThanItHasRoomForPins) {
  ServerCore::Options options = ScriptedServer::options();
  options.grid.examples = 4;  // every step is an epoch
  options.most_pins = 2;
  ScriptedServer server(options);
  server.whole_step(0);
  server.whole_step(1);
  EXPECT_THAT(server.push(1, 0, 2, {0, 4}), ElementsAre("start 0"));
  EXPECT_EQ(server.core.version(), 2u);
  EXPECT_THAT(lines(server.core.unpin(1)),
              ElementsAre("release 1", "apply 0: step 2, weight 4, scale 1 -> version 3",
                          "1 <- params 0 version 3", "pin 3", "chief <- complete 3 pinned"));
}

TEST(SyncServer, SaysAtAFenceWhichStepsTheDeadMayHaveTouched) {
  ScriptedServer server;
  server.whole_step(0);
  EXPECT_THAT(server.fence(1, {}), ElementsAre("chief <- fenced 1: open 1, untouched 1"));
  server.push(1, 0, 1, {0, 2});
  EXPECT_THAT(server.fence(2, {1}), ElementsAre("chief <- fenced 2: open 1, untouched 2"));
  // From here on the dead are refused; what they gave before counts.
  EXPECT_THAT(server.push(1, 0, 1, {2, 4}), ElementsAre("1 <- FENCED 0 step 1"));
  EXPECT_THAT(server.pull(1, 0, 1), ElementsAre("1 <- FENCED 0 step 1"));
  server.core.client_gone(1, 1);
  EXPECT_THAT(server.push(2, 0, 1, {0, 2}), IsEmpty());
  EXPECT_THAT(server.push(2, 0, 1, {2, 4}),
              ElementsAre("add to 0", "apply 0: step 1, weight 4, scale 1 -> version 2",
                          "2 <- params 0 version 2"));
}

TEST(SyncServer, CountsAChunkThatIsAheadAsTouched) {
  ScriptedServer server(ScriptedServer::options({0, 1}));
  server.push(1, 0, 0, {0, 4});
  EXPECT_THAT(server.fence(1, {}), ElementsAre("chief <- fenced 1: open 0, untouched 1"));
}

TEST(SyncServer, ReportsEachContributionOnce) {
  ScriptedServer server(ScriptedServer::options({0, 1}));
  server.push(1, 0, 0, {0, 2});
  server.push(1, 1, 0, {0, 2});  // the same contribution's other chunk
  server.push(2, 0, 0, {0, 2});  // a duplicate
  const wire::Complete report = server.report();
  EXPECT_EQ(report.version(), 0u);
  EXPECT_EQ(report.loss(), 1.0);
  EXPECT_EQ(report.weight(), 2.0);
  EXPECT_EQ(report.correct(), 1u);
  EXPECT_EQ(report.examples(), 2u);
  EXPECT_EQ(describe_ranges(report.missing()), " 2-4");
  EXPECT_EQ(server.report().examples(), 0u);  // told already
}

TEST(SyncServer, ReportsWhatTheChunkLacksThatLacksMost) {
  ScriptedServer server(ScriptedServer::options({0, 1, 2}));
  server.push(1, 0, 0, {0, 1});  // lacks three tiles in one piece
  server.push(1, 1, 0, {1, 2});
  server.push(2, 1, 0, {3, 4});  // lacks two tiles in two pieces
  server.push(1, 2, 0, {0, 4});
  EXPECT_THAT(server.core.missing(), ElementsAre(Range{1, 4}));
}

TEST(SyncServer, AppliesNothingAfterItWasStopped) {
  ScriptedServer server;
  server.whole_step(0);
  server.push(1, 0, 1, {0, 2});
  EXPECT_THAT(lines(server.core.stop()), ElementsAre("chief <- stopped at 1"));
  EXPECT_THAT(server.push(2, 0, 1, {2, 4}), IsEmpty());
  EXPECT_THAT(server.pull(3, 0, 1), ElementsAre("3 <- params 0 version 1"));
}

// ---- step-wide scalars -----------------------------------------------------------------

ServerCore::Options with_rules(const StepRules& rules, std::uint32_t servers) {
  ServerCore::Options options = ScriptedServer::options({0, 1});
  options.rules = rules;
  options.servers = servers;
  return options;
}

// The sums of both chunks are there; the server asks for their norm.
ScriptedServer covered_step(const StepRules& rules, std::uint32_t servers = 1) {
  ScriptedServer server(with_rules(rules, servers));
  EXPECT_THAT(server.push(1, 0, 0, {0, 4}), ElementsAre("start 0"));
  EXPECT_THAT(server.push(1, 1, 0, {0, 4}), ElementsAre("start 1", "measure step 0"));
  return server;
}

wire::Decision decision_on(std::uint64_t step, double sum_of_squares, bool finite) {
  wire::Decision decision;
  decision.set_step(step);
  decision.set_sum_of_squares(sum_of_squares);
  decision.set_finite(finite);
  return decision;
}

TEST(SyncServer, ClipsTheMeanGradientOfAllChunksAlike) {
  ScriptedServer server = covered_step({.clip = 0.5, .nonfinite = Nonfinite::kIgnore});
  // A sum of norm 8 over four examples is a mean of norm 2.
  EXPECT_THAT(
      lines(server.core.measured(0, 64, true)),
      ElementsAre("apply 0: step 0, weight 4, scale 0.25 -> version 1", "1 <- params 0 version 1",
                  "apply 1: step 0, weight 4, scale 0.25 -> version 1", "1 <- params 1 version 1"));
}

TEST(SyncServer, ClipsOnlyWhatIsLongerThanTheLimit) {
  ScriptedServer server = covered_step({.clip = 2, .nonfinite = Nonfinite::kIgnore});
  EXPECT_THAT(lines(server.core.measured(0, 64, true)).front(),
              "apply 0: step 0, weight 4, scale 1 -> version 1");
}

TEST(SyncServer, ClipsSumsByTheirOwnLength) {
  ScriptedServer server =
      covered_step({.clip = 0.5, .nonfinite = Nonfinite::kIgnore, .sum_factor = 4});
  EXPECT_THAT(lines(server.core.measured(0, 64, true)).front(),
              "apply 0: step 0, weight 4, scale 0.0625 -> version 1");
}

TEST(SyncServer, LetsTheChiefDecideWhenThereAreOthers) {
  ScriptedServer server = covered_step({.clip = 0.5}, 2);
  EXPECT_THAT(lines(server.core.measured(0, 28, true)),
              ElementsAre("chief <- scalars of step 0: 28"));
  EXPECT_THAT(lines(server.core.decision(decision_on(1, 64, true))), IsEmpty());  // another step's
  EXPECT_THAT(lines(server.core.decision(decision_on(0, 64, true))).front(),
              "apply 0: step 0, weight 4, scale 0.25 -> version 1");
  EXPECT_THAT(lines(server.core.decision(decision_on(0, 64, true))), IsEmpty());  // said before
  EXPECT_EQ(server.core.version(), 1u);
}

TEST(SyncServer, AppliesAChunkAsSoonAsItIsKnownToBeFinite) {
  ScriptedServer server(with_rules({.nonfinite = Nonfinite::kStop}, 2));
  EXPECT_THAT(server.push(1, 0, 0, {0, 2}), ElementsAre("start 0"));
  EXPECT_THAT(server.push(2, 0, 0, {2, 4}), ElementsAre("add to 0", "check 0 of step 0"));
  EXPECT_THAT(server.push(2, 0, 0, {2, 4}), IsEmpty());  // a duplicate while it is checked
  EXPECT_THAT(lines(server.core.checked(0, 7, true)), IsEmpty());  // another step's
  EXPECT_THAT(lines(server.core.checked(0, 0, true)),
              ElementsAre("apply 0: step 0, weight 4, scale 1 -> version 1",
                          "1 <- params 0 version 1", "2 <- params 0 version 1"));
  EXPECT_THAT(lines(server.core.checked(0, 0, true)), IsEmpty());  // said before
  EXPECT_EQ(server.core.version(), 0u);
}

TEST(SyncServer, EndsTheRunAtAGradientThatIsNotFinite) {
  ScriptedServer server(with_rules({.nonfinite = Nonfinite::kStop}, 1));
  EXPECT_THAT(server.push(1, 1, 0, {0, 4}), ElementsAre("start 1", "check 1 of step 0"));
  EXPECT_THAT(lines(server.core.checked(1, 0, true)).front(),
              "apply 1: step 0, weight 4, scale 1 -> version 1");
  EXPECT_THAT(server.push(1, 0, 0, {0, 4}), ElementsAre("start 0", "check 0 of step 0"));
  EXPECT_THAT(lines(server.core.checked(0, 0, false)),
              ElementsAre(AllOf(HasSubstr("fail:"), HasSubstr("step 0"), HasSubstr("not finite"))));
  EXPECT_THAT(server.pull(3, 1, 0), ElementsAre("3 <- params 1 version 0"));  // as it was before
  EXPECT_THAT(server.push(2, 0, 0, {0, 4}), IsEmpty());
  EXPECT_THAT(server.pull(3, 0, 0), ElementsAre("3 <- params 0 version 0"));
}

TEST(SyncServer, SkipsAGradientThatIsNotFiniteOnAnyServer) {
  ScriptedServer server = covered_step({.nonfinite = Nonfinite::kSkip}, 2);
  EXPECT_THAT(lines(server.core.measured(0, 64, true)),
              ElementsAre("chief <- scalars of step 0: 64"));
  EXPECT_THAT(
      lines(server.core.decision(decision_on(0, 64, false))),
      ElementsAre("apply 0: step 0, weight 4, scale 0 -> version 1", "1 <- params 0 version 1",
                  "apply 1: step 0, weight 4, scale 0 -> version 1", "1 <- params 1 version 1"));
  EXPECT_EQ(server.report().skipped(), 1u);
  EXPECT_EQ(server.report().skipped(), 0u);
}

TEST(SyncServer, MeasuresAStepOnce) {
  ScriptedServer server = covered_step({.clip = 0.5});
  EXPECT_THAT(server.push(2, 0, 0, {0, 4}), IsEmpty());  // a duplicate while it is measured
  EXPECT_THAT(lines(server.core.measured(7, 64, true)), IsEmpty());
  EXPECT_THAT(lines(server.core.measured(0, 64, true)).size(), 5u);
  EXPECT_THAT(lines(server.core.measured(0, 64, true)), IsEmpty());
}

}  // namespace
}  // namespace paceline

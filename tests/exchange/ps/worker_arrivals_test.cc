// What a worker does with parameters that arrive: into memory, aside, or asked for again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/ps/scripted_worker.h"
#include "net/frame.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WorkerCore::Arrival kRaw{};
WorkerCore::Arrival encoded() {
  return {.raw = false, .since = {}, .clock = {}};
}
WorkerCore::Arrival changes_since(std::uint64_t version) {
  return {.raw = false, .since = version, .clock = {}};
}

// Whose first share holds version 0 of both chunks and is not pushed yet.
ScriptedWorker computing() {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  worker.next();
  worker.all_params(0);
  return worker;
}

TEST(Arrivals, LandInMemoryThatNoShareUses) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}}));
  EXPECT_TRUE(worker.core.arriving(0, kRaw));
  EXPECT_THAT(worker.arrived(0, 0), IsEmpty());
  EXPECT_EQ(worker.core.version(0), 0);
  worker.next();
  EXPECT_TRUE(worker.core.arriving(1, kRaw));  // waited for
  EXPECT_THAT(worker.arrived(1, 0), IsEmpty());
  EXPECT_TRUE(worker.core.holds(1));
}

TEST(Arrivals, AreNoVersionUntilAllOfThemIsThere) {
  ScriptedWorker worker = computing();
  worker.push(0);
  EXPECT_TRUE(worker.core.arriving(0, kRaw));
  EXPECT_EQ(worker.core.version(0), std::nullopt);
  worker.arrived(0, 1);
  EXPECT_EQ(worker.core.version(0), 1);
}

TEST(Arrivals, GoAsideWhileAShareIsComputedFromTheChunk) {
  ScriptedWorker worker = computing();
  EXPECT_FALSE(worker.core.arriving(0, kRaw));
  EXPECT_EQ(worker.core.version(0), 0);
  EXPECT_THAT(worker.arrived(0, 1), IsEmpty());
  EXPECT_EQ(worker.core.version(0), 0);
  worker.push(0);
  worker.push(1);
  EXPECT_THAT(worker.install_aside(), ElementsAre("install 0"));
  EXPECT_EQ(worker.core.version(0), 1);
  EXPECT_THAT(worker.install_aside(), IsEmpty());
}

TEST(Arrivals, ThatEndAfterTheShareAreInstalledThen) {
  ScriptedWorker worker = computing();
  EXPECT_FALSE(worker.core.arriving(0, kRaw));
  worker.push(0);
  worker.push(1);
  EXPECT_THAT(worker.install_aside(), IsEmpty());  // still arriving
  EXPECT_THAT(worker.arrived(0, 1), ElementsAre("install 0"));
  EXPECT_EQ(worker.core.version(0), 1);
}

TEST(Arrivals, ThatMustBeDecodedGoAsideFirst) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}}));
  worker.next();
  EXPECT_FALSE(worker.core.arriving(0, encoded()));
  EXPECT_THAT(worker.arrived(0, 0), ElementsAre("install 0"));
  EXPECT_TRUE(worker.core.holds(0));
}

TEST(Arrivals, OfChangesFitTheVersionThatTheyChange) {
  ScriptedWorker worker = computing();
  worker.push(0);
  EXPECT_FALSE(worker.core.arriving(0, changes_since(0)));
  EXPECT_THAT(worker.arrived(0, 1), ElementsAre("install 0"));
  EXPECT_EQ(worker.core.version(0), 1);
  // A share that was pushed twice is answered twice.
  EXPECT_FALSE(worker.core.arriving(0, changes_since(0)));
  EXPECT_THAT(worker.arrived(0, 1), ElementsAre("drop 0"));
  EXPECT_EQ(worker.core.version(0), 1);
}

TEST(Arrivals, OfChangesThatComeTooLateAreAskedForWhole) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  worker.next();
  worker.compute(0);
  worker.next();
  worker.compute(1);  // the answers will be changes from version 1 to 2
  worker.core.assignment(with_adopted(assignment_of(2, 2, {{1, 1}}), 0, {2, 4}, 1));
  worker.next();
  worker.needs(0);
  worker.params(0, 0);  // it has gone back for the share that it adopts
  worker.core.arriving(0, changes_since(1));
  EXPECT_THAT(worker.arrived(0, 2), IsEmpty());  // aside: version 0 is in use
  worker.compute(0);
  EXPECT_EQ(worker.next(), "step 2 tiles 0-4");
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 version 2"));
  EXPECT_THAT(worker.install_aside(), ElementsAre("drop 0", "pull 0 version 2"));
  EXPECT_THAT(worker.needs(0), IsEmpty());
}

TEST(Arrivals, OfChangesThatNobodyWaitsForAreDropped) {
  ScriptedWorker worker = computing();
  worker.core.arriving(0, changes_since(7));
  worker.arrived(0, 8);
  worker.push(0);
  worker.push(1);
  EXPECT_THAT(worker.install_aside(), ElementsAre("drop 0"));
  EXPECT_EQ(worker.core.version(0), 0);
}

TEST(Arrivals, OfChangesOfAVersionThatIsNotHereAreRefusedWhenAsync) {
  ScriptedWorker worker(Mode::kAsync);
  worker.core.arriving(0, changes_since(3));
  EXPECT_THROW(worker.core.arrived(0, 4), FrameError);
}

TEST(Arrivals, BringTheClockOfAWorkerThatJoins) {
  ScriptedWorker worker(Mode::kAsync);
  worker.lease({0, 2});
  worker.next();
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 latest"));
  EXPECT_TRUE(worker.core.arriving(0, {.raw = true, .since = {}, .clock = 5}));
  worker.arrived(0, 9);
  EXPECT_EQ(worker.core.clock(), 5);
}

TEST(Arrivals, ThatDidNotBeginAreRefused) {
  ScriptedWorker worker;
  EXPECT_THROW(worker.core.arrived(0, 1), FrameError);
}

}  // namespace
}  // namespace paceline

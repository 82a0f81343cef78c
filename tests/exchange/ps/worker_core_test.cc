#include "exchange/ps/worker_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "exchange/ps/scripted_worker.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SyncWorker, PullsWhatAShareNeedsAndPushesItsGradient) {
  ScriptedWorker worker;
  EXPECT_EQ(worker.next(), "wait");  // for an assignment
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  EXPECT_EQ(worker.next(), "step 0 tiles 0-2");
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 version 0"));
  EXPECT_THAT(worker.needs(0), IsEmpty());  // under way
  EXPECT_FALSE(worker.core.holds(0));
  worker.params(0, 0);
  EXPECT_TRUE(worker.core.holds(0));
  EXPECT_THAT(worker.needs(1), ElementsAre("pull 1 version 0"));
  worker.params(1, 0);
  EXPECT_THAT(worker.push(1),
              ElementsAre("push 1 step 0 tiles 0-2 of assignment 1 from version 0"));
  EXPECT_THAT(worker.push(0),
              ElementsAre("push 0 step 0 tiles 0-2 of assignment 1 from version 0"));
  EXPECT_EQ(worker.next(), "step 1 tiles 0-2");
  // A push is answered with the next version: there is nothing to ask for.
  EXPECT_THAT(worker.needs(0), IsEmpty());
  worker.params(0, 1);
  EXPECT_TRUE(worker.core.holds(0));
  EXPECT_FALSE(worker.core.holds(1));
}

TEST(SyncWorker, WaitsForStepsInWhichItHasNoShare) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 0}, {2, 1}}));
  worker.core.assignment(assignment_of(2, 2, {{1, 1}, {2, 1}}));
  EXPECT_EQ(worker.next(), "wait");
  EXPECT_THAT(worker.asked(), ElementsAre("pull 0 version 1", "pull 1 version 1"));
  EXPECT_EQ(worker.next(), "wait");
  EXPECT_THAT(worker.asked(), IsEmpty());
  worker.params(0, 1);
  EXPECT_EQ(worker.next(), "wait");
  worker.params(1, 1);
  EXPECT_EQ(worker.next(), "wait");
  EXPECT_THAT(worker.asked(), ElementsAre("pull 0 version 2", "pull 1 version 2"));
  worker.all_params(2);
  EXPECT_EQ(worker.next(), "step 2 tiles 0-2");
  EXPECT_TRUE(worker.core.holds(0));
}

TEST(SyncWorker, IsDoneWhenTheLastVersionIsEverywhere) {
  WorkerCore::Options options = ScriptedWorker::options(Mode::kSync);
  options.version = 24;
  ScriptedWorker worker(options);
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  EXPECT_EQ(worker.next(), "step 24 tiles 0-2");
  worker.compute(24);
  EXPECT_EQ(worker.next(), "wait");  // others may need help
  worker.params(1, 25);
  EXPECT_EQ(worker.next(), "wait");
  worker.params(0, 25);
  EXPECT_EQ(worker.next(), "done");
}

TEST(SyncWorker, SetsAsideWhatItBeganForAnOlderShareItAdopts) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  worker.next();
  worker.compute(0);
  EXPECT_EQ(worker.next(), "step 1 tiles 0-2");  // waits for version 1, which lacks tiles 2-4
  EXPECT_FALSE(worker.core.superseded());
  worker.core.assignment(with_adopted(assignment_of(2, 2, {{1, 1}}), 0, {2, 4}, 1));
  EXPECT_TRUE(worker.core.superseded());
  worker.core.set_aside();
  EXPECT_EQ(worker.next(), "step 0 tiles 2-4");
  EXPECT_THAT(worker.compute(0),
              ElementsAre("push 1 step 0 tiles 2-4 of assignment 1 from version 0",
                          "push 0 step 0 tiles 2-4 of assignment 1 from version 0"));
  EXPECT_EQ(worker.next(), "step 1 tiles 0-2");
  EXPECT_THAT(worker.compute(1),
              ElementsAre("push 1 step 1 tiles 0-2 of assignment 1 from version 1",
                          "push 0 step 1 tiles 0-2 of assignment 1 from version 1"));
  EXPECT_EQ(worker.next(), "step 2 tiles 0-4");
}

TEST(SyncWorker, PullsTheOldVersionForAShareItAdopts) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  worker.next();
  worker.compute(0);
  worker.params(0, 1);  // this chunk is a version ahead already
  worker.core.assignment(with_adopted(assignment_of(2, 2, {{1, 1}}), 0, {2, 4}, 1));
  EXPECT_EQ(worker.next(), "step 0 tiles 2-4");
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 version 0"));
  worker.params(0, 0);
  EXPECT_TRUE(worker.core.holds(0));
}

TEST(SyncWorker, FinishesAShareOfWhichItPushedSomething) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  worker.next();
  worker.compute(0);
  EXPECT_EQ(worker.next(), "step 1 tiles 0-2");
  worker.all_params(1);
  worker.push(1);
  worker.core.assignment(with_adopted(assignment_of(2, 2, {{1, 1}}), 0, {2, 4}, 1));
  EXPECT_FALSE(worker.core.superseded());
  worker.push(0);
  EXPECT_EQ(worker.next(), "step 0 tiles 2-4");
}

TEST(SyncWorker, ComputesAdoptedSharesOfLaterStepsWhenItGetsThere) {
  ScriptedWorker worker;
  worker.core.assignment(with_adopted(assignment_of(2, 0, {{1, 1}, {2, 1}}), 1, {3, 4}, 1));
  EXPECT_EQ(worker.next(), "step 0 tiles 0-2");
  worker.compute(0);
  EXPECT_EQ(worker.next(), "step 1 tiles 3-4");
  worker.compute(1);
  EXPECT_EQ(worker.next(), "step 1 tiles 0-2");
}

TEST(SyncWorker, BeginsNothingNewBetweenPrepareAndTheAssignment) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  EXPECT_EQ(worker.next(), "step 0 tiles 0-2");
  EXPECT_THAT(worker.prepare(2), ElementsAre("chief <- prepared 2: next 1"));
  worker.compute(0);  // what it has begun it finishes
  EXPECT_EQ(worker.next(), "wait");
  EXPECT_THAT(worker.prepare(3), ElementsAre("chief <- prepared 3: next 1"));
  worker.core.assignment(assignment_of(2, 1, {{1, 1}, {2, 1}, {3, 2}}));
  EXPECT_EQ(worker.next(), "wait");  // for assignment 3
  worker.core.assignment(assignment_of(3, 2, {{1, 1}, {3, 1}}));
  EXPECT_EQ(worker.next(), "step 1 tiles 0-1");  // assignment 2 holds until assignment 3 starts
  worker.compute(1);
  EXPECT_EQ(worker.next(), "step 2 tiles 0-2");
}

TEST(SyncWorker, JumpsAheadWhenTheRunHasGoneOnWithoutIt) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  EXPECT_EQ(worker.next(), "step 0 tiles 0-2");
  worker.needs(0);
  worker.refused(0, 0, wire::Refusal::GONE, 5);
  EXPECT_TRUE(worker.core.superseded());
  EXPECT_THAT(worker.push(1), IsEmpty());  // of the share that nobody needs any more
  EXPECT_EQ(worker.next(), "step 5 tiles 0-2");
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 version 5"));
}

TEST(SyncWorker, DropsAdoptedSharesThatAreNoLongerNeeded) {
  ScriptedWorker worker;
  wire::Assignment assignment = with_adopted(assignment_of(1, 0, {{1, 1}, {2, 1}}), 3, {2, 4}, 1);
  worker.core.assignment(with_adopted(assignment, 6, {2, 4}, 1));
  EXPECT_EQ(worker.next(), "step 0 tiles 0-2");
  worker.refused(0, 0, wire::Refusal::GONE, 6);
  EXPECT_EQ(worker.next(), "step 6 tiles 2-4");
}

TEST(SyncWorker, CannotGoOnWhenItIsRefused) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}}));
  worker.next();
  const auto message = [&](wire::Refusal::Reason reason) -> std::string {
    try {
      worker.refused(1, 7, reason, 9);
    } catch (const CommError& error) {
      return error.what();
    }
    return "no CommError";
  };
  EXPECT_THAT(message(wire::Refusal::FENCED), HasSubstr("declared dead"));
  for (const auto reason : {wire::Refusal::STALE_ASSIGNMENT, wire::Refusal::OVERLAP,
                            wire::Refusal::BASE, wire::Refusal::FUTURE}) {
    EXPECT_THAT(message(reason), AllOf(HasSubstr("step 7"), HasSubstr("chunk 1"),
                                       HasSubstr(wire::Refusal::Reason_Name(reason))));
  }
}

TEST(SyncWorker, GuessesTheShareThatFollows) {
  ScriptedWorker worker;
  EXPECT_FALSE(worker.core.after({0, {0, 2}}).has_value());
  worker.core.assignment(assignment_of(1, 0, {{1, 1}, {2, 1}}));
  worker.core.assignment(assignment_of(2, 3, {{1, 1}}));
  EXPECT_EQ(worker.core.after({0, {0, 2}}), (Share{1, {0, 2}}));
  EXPECT_EQ(worker.core.after({2, {0, 2}}), (Share{3, {0, 4}}));
  EXPECT_FALSE(worker.core.after({24, {0, 4}}).has_value());
}

TEST(SyncWorker, StopsWhenTold) {
  ScriptedWorker worker;
  worker.core.assignment(assignment_of(1, 0, {{1, 1}}));
  worker.next();
  worker.core.stop();
  EXPECT_TRUE(worker.core.superseded());
  worker.core.set_aside();
  EXPECT_EQ(worker.next(), "done");
}

}  // namespace
}  // namespace paceline

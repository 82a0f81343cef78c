#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/ps/scripted_worker.h"
#include "exchange/ps/worker_core.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AsyncWorker, ComputesItsLeasesFromTheLatestParameters) {
  ScriptedWorker worker(Mode::kAsync);
  EXPECT_EQ(worker.next(), "wait");
  worker.lease({4, 6});
  EXPECT_EQ(worker.next(), "step 4 tiles 0-4");
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 latest"));  // it joins
  EXPECT_THAT(worker.needs(0), IsEmpty());
  worker.params(0, 17);
  EXPECT_TRUE(worker.core.holds(0));
  EXPECT_THAT(worker.compute(17),
              ElementsAre("push 1 step 4 tiles 0-4 of assignment 0 from version 17",
                          "push 0 step 4 tiles 0-4 of assignment 0 from version 17"));
  EXPECT_EQ(worker.next(), "step 5 tiles 0-4");
  EXPECT_THAT(worker.needs(0), IsEmpty());  // the push is answered with the latest
  EXPECT_FALSE(worker.core.holds(0));
  EXPECT_THAT(worker.compute(18),
              ElementsAre("push 1 step 5 tiles 0-4 of assignment 0 from version 18, then idle",
                          "push 0 step 5 tiles 0-4 of assignment 0 from version 18, then idle"));
  EXPECT_EQ(worker.next(), "wait");
}

TEST(AsyncWorker, JoinsAgainAfterItIdled) {
  ScriptedWorker worker(Mode::kAsync);
  worker.lease({4, 5});
  worker.next();
  worker.compute(17);
  worker.all_params(18);
  worker.lease({9, 10});
  EXPECT_EQ(worker.next(), "step 9 tiles 0-4");
  EXPECT_FALSE(worker.core.holds(0));  // what it holds may be too old
  EXPECT_THAT(worker.needs(0), ElementsAre("pull 0 latest"));
}

TEST(AsyncWorker, CommitsALeaseWhenEveryServerHasAcknowledgedIt) {
  ScriptedWorker worker(Mode::kSsp);
  worker.lease({4, 5});
  worker.next();
  worker.compute(17);
  EXPECT_FALSE(worker.core.quiet());
  EXPECT_THAT(worker.params(0, 18), IsEmpty());
  wire::Ack ack;
  ack.set_chunk(1);
  ack.set_step(4);
  EXPECT_THAT(lines(worker.core.ack(ack)), ElementsAre("chief <- committed 4-5"));
  EXPECT_TRUE(worker.core.quiet());
  EXPECT_THAT(worker.params(1, 20), IsEmpty());  // the parameters that had to wait
}

TEST(AsyncWorker, WaitsForParametersAfterAnAcknowledgement) {
  ScriptedWorker worker(Mode::kSsp);
  worker.lease({4, 6});
  worker.next();
  worker.compute(17);
  wire::Ack ack;
  for (const std::uint32_t chunk : {0, 1}) {
    ack.set_chunk(chunk);
    worker.core.ack(ack);
  }
  worker.next();
  EXPECT_FALSE(worker.core.holds(0));
  worker.params(0, 20);
  EXPECT_TRUE(worker.core.holds(0));
}

TEST(AsyncWorker, TellsTheChiefOfSeveralCommitsAtATime) {
  WorkerCore::Options options = ScriptedWorker::options(Mode::kAsync);
  options.report_every = 3;
  ScriptedWorker worker(options);
  worker.lease({4, 6});
  worker.lease({2, 3});
  worker.lease({8, 9});
  Lines told;
  for (std::uint64_t version = 17; version < 21; ++version) {
    worker.next();
    worker.compute(version);
    for (const std::uint32_t chunk : {0, 1}) {
      for (std::string& line : worker.params(chunk, version + 1)) told.push_back(std::move(line));
    }
  }
  // After three, and after the last lease.
  EXPECT_THAT(told, ElementsAre("chief <- committed 2-3 4-6", "chief <- committed 8-9"));
}

TEST(AsyncWorker, ReadsAheadInItsLeases) {
  ScriptedWorker worker(Mode::kAsync);
  worker.lease({4, 6});
  worker.next();
  EXPECT_EQ(worker.core.after({4, {0, 4}}), (Share{5, {0, 4}}));
  worker.compute(17);
  worker.next();
  EXPECT_FALSE(worker.core.after({5, {0, 4}}).has_value());
}

// The first server says at which clock a worker joins; only then the others are asked, so that
// its clock is the same everywhere.
TEST(AsyncWorker, JoinsEverywhereAtOneClock) {
  ScriptedWorker worker(Mode::kSsp);
  worker.lease({4, 6});
  worker.next();
  EXPECT_THAT(worker.needs(1), ElementsAre("pull 0 latest"));
  EXPECT_THAT(worker.needs(0), IsEmpty());
  const auto& actions = worker.core.params(0, 17, 30);
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(std::get<SendPull>(actions.front()).message.chunk(), 1U);
  EXPECT_EQ(std::get<SendPull>(actions.front()).message.clock(), 30U);
  worker.params(1, 17);
  EXPECT_EQ(std::get<SendPush>(worker.core.push(1, {}).front()).message.clock(), 31U);
  EXPECT_EQ(std::get<SendPush>(worker.core.push(0, {}).front()).message.clock(), 31U);
}

// Whether it idles is decided when the first chunk leaves, and is the same for all.
TEST(AsyncWorker, DoesNotIdleWhenALeaseComesInTime) {
  ScriptedWorker worker(Mode::kAsync);
  worker.lease({4, 5});
  worker.next();
  worker.needs(0);
  worker.params(0, 17);
  worker.needs(1);
  worker.params(1, 17);
  worker.lease({9, 10});
  EXPECT_FALSE(std::get<SendPush>(worker.core.push(1, {}).front()).message.last_lease());
}

TEST(RowWorker, PushesWithoutWaitingForAnswersAndCommitsInOrder) {
  WorkerCore::Options options = ScriptedWorker::options(Mode::kAsync);
  options.rows = true;
  options.report_every = 1;
  ScriptedWorker worker(options);
  worker.lease({4, 7});
  for (const char* share : {"step 4 tiles 0-4", "step 5 tiles 0-4"}) {
    EXPECT_EQ(worker.next(), share);
    worker.core.push(0, {});
    worker.core.push(1, {});
  }
  wire::Ack ack;
  ack.set_chunk(0);
  EXPECT_THAT(lines(worker.core.ack(ack)), IsEmpty());
  EXPECT_THAT(worker.params(1, 20), IsEmpty());  // rows of a share: no acknowledgement
  EXPECT_THAT(lines(worker.core.ack(ack)), IsEmpty());
  ack.set_chunk(1);
  EXPECT_THAT(lines(worker.core.ack(ack)), ElementsAre("chief <- committed 4-5"));
  EXPECT_FALSE(worker.core.quiet());
  EXPECT_THAT(lines(worker.core.ack(ack)), ElementsAre("chief <- committed 5-6"));
  EXPECT_TRUE(worker.core.quiet());
}

}  // namespace
}  // namespace paceline

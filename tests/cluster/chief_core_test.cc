// What the chief does when members are lost at the very end, or in a ring: cases that are too rare
// to wait for a simulation to meet them.
#include "cluster/chief_core.h"

#include <gmock/gmock.h>

#include "session/failure.h"

namespace paceline {
namespace {

const CommError kKilled("killed");

class ChiefTest : public ::testing::Test {
 protected:
  // One server (in a ring: the keeper), two workers, an evaluator; two epochs of two steps.
  void start_ring_with(const std::string& keeper) { start(true, Mode::kSync, keeper); }
  void start(bool ring, Mode mode = Mode::kSync, const std::string& server = "server0") {
    ChiefCore::Options options;
    options.mode = mode;
    options.grid = {20, 10, 5};
    options.workers = 2;
    options.last_version = 4;
    options.ring = ring;
    core_.emplace(options);
    do_all(core_->registered(Role::kServer, server, "there", server_));
    do_all(core_->registered(Role::kWorker, "worker0", "", worker0_));
    do_all(core_->registered(Role::kWorker, "worker1", "", worker1_));
    do_all(core_->registered(Role::kEvaluator, "evaluator0", "", evaluator_));
    do_all(core_->ready(server_));
  }
  void complete(std::uint32_t server, std::uint64_t version, bool pinned) {
    wire::Complete complete;
    complete.set_version(version);
    complete.set_pinned(pinned);
    do_all(core_->complete(server, complete));
  }
  void evaluated(std::uint64_t version) {
    wire::Evaluated evaluated;
    evaluated.set_version(version);
    do_all(core_->evaluated(evaluated));
  }
  void stopped(std::uint32_t server, std::uint64_t version) {
    wire::Stopped stopped;
    stopped.set_version(version);
    stopped.set_even(true);
    do_all(core_->stopped(server, stopped));
  }
  void committed(std::uint32_t worker, std::uint64_t step) {
    wire::Committed committed;
    committed.add_steps()->set_begin(step);
    committed.mutable_steps(0)->set_end(step + 1);
    do_all(core_->committed(worker, committed));
  }
  // A ring, as the chief knows it within the last step; then a worker is lost.
  void break_in_the_last_step() {
    start(true);
    complete(server_, 2, true);
    do_all(core_->saved(2));
    evaluated(2);
    complete(server_, 3, false);
    do_all(core_->lost(worker1_, kKilled));
    EXPECT_THAT(told<wire::Stop>(), ::testing::ElementsAre(worker0_, server_));
  }
  void expect_failure(const std::string& words) {
    ASSERT_TRUE(ended_);
    ASSERT_TRUE(ended_->failure);
    EXPECT_STREQ(ended_->failure->what(), words.c_str());
  }
  void expect_good_end() {
    ASSERT_TRUE(ended_);
    EXPECT_FALSE(ended_->failure);
    EXPECT_FALSE(ended_->interrupted);
  }
  void train_all() {
    complete(server_, 2, true);
    do_all(core_->saved(2));
    evaluated(2);
    complete(server_, 4, true);
  }
  void do_all(const ChiefCore::Actions& actions) {
    last_.clear();
    for (const ChiefAction& action : actions) {
      last_.push_back(action);
      if (const auto* ended = std::get_if<RunEnded>(&action)) ended_ = *ended;
    }
  }
  template <typename Message>
  std::vector<std::uint32_t> told() const {  // who was told so, by the last call
    std::vector<std::uint32_t> members;
    for (const ChiefAction& action : last_) {
      const auto* send = std::get_if<SendToMember>(&action);
      if (send && std::holds_alternative<Message>(send->message)) {
        members.push_back(send->incarnation);
      }
    }
    return members;
  }
  template <typename Action>
  bool did() const {
    return std::ranges::any_of(
        last_, [](const ChiefAction& action) { return std::holds_alternative<Action>(action); });
  }

  std::optional<ChiefCore> core_;
  std::uint32_t server_ = 0;
  std::uint32_t worker0_ = 0;
  std::uint32_t worker1_ = 0;
  std::uint32_t evaluator_ = 0;
  std::vector<ChiefAction> last_;
  std::optional<RunEnded> ended_;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ChiefTest, NeedsNoWorkerWhileTheLastVersionIsTested) {
  start(false);
  train_all();
  do_all(core_->lost(worker0_, kKilled));
  do_all(core_->lost(worker1_, kKilled));
  EXPECT_FALSE(ended_);
  do_all(core_->saved(4));
  evaluated(4);
  ASSERT_TRUE(ended_);
  EXPECT_FALSE(ended_->failure);
}

// So that who knows how its process has ended can say so in the place of "killed".
TEST_F(ChiefTest, NamesTheLostServerAsWhomItsFailureIsAbout) {
  start(false);
  do_all(core_->lost(server_, kKilled));
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(worker0_, worker1_));
  const auto& stop = std::get<wire::Stop>(std::get<SendToMember>(last_.front()).message);
  ASSERT_TRUE(ended_);
  ASSERT_TRUE(ended_->failure);
  for (const Error& failure : {*ended_->failure, error_of(stop.failure())}) {
    EXPECT_STREQ(failure.what(), "server0 is lost: killed; its parameters are gone");
    EXPECT_EQ(failure.code(), ExitCode::kCommunication);
    EXPECT_EQ(failure.reasons().front().about, "server0");
  }
  EXPECT_FALSE(ended_->interrupted);
}

TEST_F(ChiefTest, EndsWithTheFailureThatAMemberTells) {
  start(false);
  do_all(core_->fail(DataError(Error("the disk is full"), "cannot write x")));
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(worker0_, worker1_, server_));
  wire::Stopped stopped;
  stopped.set_even(true);
  do_all(core_->stopped(server_, stopped));
  ASSERT_TRUE(ended_);
  ASSERT_TRUE(ended_->failure);
  EXPECT_STREQ(ended_->failure->what(), "cannot write x: the disk is full");
  EXPECT_EQ(ended_->failure->code(), ExitCode::kData);
}

// The last worker's death may be heard of before what it has achieved.
TEST_F(ChiefTest, AsksTheServersHowFarTheyAreWhenTheLastWorkerIsLost) {
  start(false);
  complete(server_, 2, true);
  do_all(core_->saved(2));
  evaluated(2);
  do_all(core_->lost(worker0_, kKilled));
  do_all(core_->lost(worker1_, kKilled));
  EXPECT_THAT(told<wire::Fence>(), ElementsAre(server_));
  wire::Fenced fenced;
  for (const ChiefAction& action : last_) {
    const auto* send = std::get_if<SendToMember>(&action);
    if (send && std::holds_alternative<wire::Fence>(send->message)) {
      fenced.set_number(std::get<wire::Fence>(send->message).number());
    }
  }
  EXPECT_FALSE(ended_);
  complete(server_, 4, true);
  fenced.set_open(4);
  fenced.set_untouched(4);
  do_all(core_->fenced(server_, fenced));
  EXPECT_FALSE(ended_);
  do_all(core_->saved(4));
  evaluated(4);
  ASSERT_TRUE(ended_);
  EXPECT_FALSE(ended_->failure);
}

// As a scheduler does that ends all processes: what they have learned is saved.
TEST_F(ChiefTest, EndsAsAskedWhenAllWorkersWereAskedToEnd) {
  start(false);
  do_all(core_->lost(worker0_, Interrupted("interrupted")));
  EXPECT_FALSE(core_->stopping());
  do_all(core_->lost(worker1_, Interrupted("interrupted")));
  EXPECT_TRUE(core_->stopping());
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(server_));
  stopped(server_, 1);
  ASSERT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(1));
  ASSERT_TRUE(ended_);
  EXPECT_FALSE(ended_->failure);
  EXPECT_TRUE(ended_->interrupted);
}

TEST_F(ChiefTest, EndsWithoutWorkersWhenStepsAreLeft) {
  start(false);
  do_all(core_->lost(worker0_, kKilled));
  do_all(core_->lost(worker1_, kKilled));
  wire::Fenced fenced;
  fenced.set_number(3);  // the third assignment
  fenced.set_open(1);
  fenced.set_untouched(2);
  do_all(core_->fenced(server_, fenced));
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(server_));
  wire::Stopped stopped;
  stopped.set_version(1);
  stopped.set_even(true);
  do_all(core_->stopped(server_, stopped));
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(1));
  ASSERT_TRUE(ended_);
  ASSERT_TRUE(ended_->failure);
  EXPECT_STREQ(ended_->failure->what(), "no worker is left: worker1 is lost: killed");
}

TEST_F(ChiefTest, OfARingAsksASurvivorToKeepTheLastVersionForItsTest) {
  start(true);
  train_all();
  do_all(core_->lost(server_, kKilled));
  EXPECT_THAT(told<wire::Keep>(), ElementsAre(worker0_));
  do_all(core_->lost(worker0_, kKilled));  // it was the same process
  EXPECT_THAT(told<wire::Keep>(), ElementsAre(worker1_));
  EXPECT_EQ(core_->unwelcome(Role::kServer), "");
  std::uint32_t keeper = 0;
  do_all(core_->registered(Role::kServer, "keeper in worker1", "here", keeper));
  EXPECT_THAT(told<wire::Pin>(), ElementsAre(keeper));
  EXPECT_THAT(told<wire::Begin>(), ElementsAre(evaluator_));
  complete(keeper, 4, true);
  EXPECT_THAT(told<wire::Evaluate>(), ElementsAre(evaluator_));
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(4));
  evaluated(4);
  ASSERT_TRUE(ended_);
  EXPECT_FALSE(ended_->failure);
}

TEST_F(ChiefTest, OfARingDoesNotRepeatWhatWasDoneBeforeTheKeeperWasLost) {
  start(true);
  train_all();
  do_all(core_->saved(4));
  do_all(core_->lost(server_, kKilled));
  std::uint32_t keeper = 0;
  do_all(core_->registered(Role::kServer, "keeper in worker0", "here", keeper));
  complete(keeper, 4, true);
  EXPECT_THAT(told<wire::Evaluate>(), ElementsAre(evaluator_));
  EXPECT_FALSE(did<SaveCheckpoint>());
  evaluated(4);
  ASSERT_TRUE(ended_);
}

TEST_F(ChiefTest, OfARingSavesWhatASurvivorHoldsWhenItIsBroken) {
  start(true);
  complete(server_, 2, true);
  complete(server_, 3, false);
  do_all(core_->lost(server_, kKilled));
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(worker0_, worker1_));
  EXPECT_THAT(told<wire::Keep>(), ElementsAre(worker0_));
  do_all(core_->lost(worker0_, kKilled));
  std::uint32_t keeper = 0;
  do_all(core_->registered(Role::kServer, "keeper in worker1", "here", keeper));
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(keeper));
  wire::Stopped stopped;
  stopped.set_version(3);
  stopped.set_even(true);
  do_all(core_->stopped(keeper, stopped));
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(3));
  ASSERT_TRUE(ended_);
  ASSERT_TRUE(ended_->failure);
  EXPECT_STREQ(ended_->failure->what(), "server0 is lost: killed");
}

// The keeper pins an epoch's version as it stops.
TEST_F(ChiefTest, OfARingThatIsBrokenSavesAVersionOnce) {
  start(true);
  do_all(core_->lost(worker0_, kKilled));
  complete(server_, 2, true);
  EXPECT_FALSE(did<SaveCheckpoint>());
  stopped(server_, 2);
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(2));
  EXPECT_TRUE(ended_);
}

TEST_F(ChiefTest, OfARingEndsWhenNobodyHoldsTheParameters) {
  start(true);
  train_all();
  do_all(core_->lost(server_, kKilled));
  do_all(core_->lost(worker0_, kKilled));
  do_all(core_->lost(worker1_, kKilled));
  ASSERT_TRUE(ended_);
  EXPECT_TRUE(ended_->failure);
}

// The keeper tells of the last version later than the workers may go.
TEST_F(ChiefTest, OfARingThatWasDoneWhenItBrokeTestsAndSavesTheLastVersion) {
  break_in_the_last_step();
  stopped(server_, 4);
  EXPECT_THAT(told<wire::Pin>(), ElementsAre(server_));
  ASSERT_THAT(told<wire::Stop>(), ElementsAre(worker0_));
  const auto& all_done = std::get<SendToMember>(last_[1]);
  EXPECT_FALSE(std::get<wire::Stop>(all_done.message).has_failure());
  EXPECT_FALSE(core_->stopping());
  complete(server_, 4, true);
  EXPECT_THAT(told<wire::Evaluate>(), ElementsAre(evaluator_));
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(4));
  EXPECT_FALSE(ended_);
  evaluated(4);
  expect_good_end();
}

TEST_F(ChiefTest, OfARingThatIsBrokenTakesWhatWasOnItsWay) {
  break_in_the_last_step();
  complete(server_, 4, true);
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(4));
  evaluated(4);
  EXPECT_FALSE(ended_);
  stopped(server_, 4);
  EXPECT_THAT(told<wire::Pin>(), IsEmpty());
  expect_good_end();
}

TEST_F(ChiefTest, OfARingThatWasDoneWhenItBrokeTestsWhatASurvivorHolds) {
  break_in_the_last_step();
  do_all(core_->lost(server_, kKilled));
  EXPECT_THAT(told<wire::Keep>(), ElementsAre(worker0_));
  std::uint32_t keeper = 0;
  do_all(core_->registered(Role::kServer, "keeper in worker0", "here", keeper));
  stopped(keeper, 4);
  EXPECT_THAT(told<wire::Begin>(), ElementsAre(evaluator_));
  EXPECT_THAT(told<wire::Pin>(), ElementsAre(keeper));
  complete(keeper, 4, true);
  EXPECT_TRUE(did<Progressed>());  // nobody has told of this version before
  do_all(core_->saved(4));
  evaluated(4);
  expect_good_end();
}

TEST_F(ChiefTest, OfARingThatWasDoneWhenItBrokeGoesOnWithoutItsEvaluator) {
  start(true);
  complete(server_, 2, true);
  do_all(core_->saved(2));
  do_all(core_->lost(worker1_, kKilled));
  do_all(core_->lost(evaluator_, kKilled));
  stopped(server_, 4);
  EXPECT_TRUE(did<EpochUntested>());
  EXPECT_THAT(told<wire::Unpin>(), ElementsAre(server_));
  EXPECT_FALSE(ended_);
  complete(server_, 4, true);
  EXPECT_TRUE(did<EpochUntested>());
  do_all(core_->saved(4));
  expect_good_end();
}

TEST_F(ChiefTest, OfABrokenRingForgetsNoOtherFailure) {
  break_in_the_last_step();
  do_all(core_->fail(DataError("the images cannot be read")));
  stopped(server_, 4);
  EXPECT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(4));
  expect_failure("worker1 is lost: killed. Then: the images cannot be read");
}

TEST_F(ChiefTest, OfABrokenRingTestsNothingWhenSomebodyAsksItToStop) {
  break_in_the_last_step();
  do_all(core_->stop());
  stopped(server_, 4);
  do_all(core_->saved(4));
  expect_failure("worker1 is lost: killed");
}

// It said what it did before, but the last sum has not come to all.
TEST_F(ChiefTest, OfARingEndsWhenWhoeverIsToKeepTheLastVersionHasTheOneBefore) {
  start(true);
  complete(server_, 2, true);
  do_all(core_->saved(2));
  evaluated(2);
  complete(server_, 4, false);
  do_all(core_->lost(server_, kKilled));
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(worker0_, worker1_));
  EXPECT_THAT(told<wire::Keep>(), ElementsAre(worker0_));
  std::uint32_t heir = 0;
  do_all(core_->registered(Role::kServer, "keeper in worker0", "there", heir));
  EXPECT_THAT(told<wire::Pin>(), ElementsAre(heir));
  complete(heir, 3, false);
  EXPECT_FALSE(did<Progressed>());
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(worker0_, worker1_, heir));
  stopped(heir, 3);
  ASSERT_TRUE(did<SaveCheckpoint>());
  do_all(core_->saved(3));
  expect_failure("keeper in worker0 holds version 3: the last step is lost");
}

// It cannot have another in the place of the one that hangs.
TEST_F(ChiefTest, OfARingDoesNotAskTheProcessWhoseKeeperWasLost) {
  start_ring_with("keeper in worker0");
  complete(server_, 3, false);
  do_all(core_->lost(server_, kKilled));
  EXPECT_THAT(told<wire::Keep>(), ElementsAre(worker1_));
  EXPECT_EQ(core_->waited_for(), "worker1");
  do_all(core_->lost(worker1_, kKilled));
  EXPECT_THAT(told<wire::Keep>(), ElementsAre());
  expect_failure("no worker is left that holds the parameters: worker1 is lost: killed");
}

TEST_F(ChiefTest, OfARingThatNobodyIsLeftOfIsStoppedAtOnce) {
  for (const bool asked : {true, false}) {
    start(true);
    ended_.reset();
    train_all();
    do_all(core_->saved(4));
    do_all(core_->lost(server_, kKilled));
    do_all(core_->lost(worker0_, kKilled));
    do_all(core_->lost(worker1_, kKilled));
    EXPECT_FALSE(ended_);
    do_all(asked ? core_->stop() : core_->fail(DataError("the tests cannot be read")));
    ASSERT_TRUE(ended_);
    EXPECT_EQ(ended_->interrupted, asked);
    EXPECT_EQ(ended_->failure.has_value(), !asked);
  }
}

TEST_F(ChiefTest, DoesNotBelieveAServerThatStopsByItself) {
  start(false);
  wire::Stopped stopped;
  EXPECT_THROW(core_->stopped(server_, stopped), FrameError);
}

// Who tests may have the values already.
TEST_F(ChiefTest, OfARingWaitsForItsLastTestWhenAllIsSavedAndNobodyIsLeft) {
  start(true);
  train_all();
  do_all(core_->saved(4));
  do_all(core_->lost(server_, kKilled));
  do_all(core_->lost(worker0_, kKilled));
  do_all(core_->lost(worker1_, kKilled));
  EXPECT_THAT(told<wire::Goodbye>(), ElementsAre(evaluator_));
  EXPECT_FALSE(ended_);
  EXPECT_TRUE(core_->awaits_test(4));
  evaluated(4);
  expect_good_end();
}

TEST_F(ChiefTest, OfARingEndsUntestedWhenAllIsSavedAndTheEvaluatorHasNoValues) {
  start(true);
  train_all();
  do_all(core_->saved(4));
  for (const std::uint32_t member : {worker0_, worker1_, server_}) {
    do_all(core_->lost(member, kKilled));
  }
  EXPECT_FALSE(ended_);
  do_all(core_->lost(evaluator_, CommError("goodbye")));
  EXPECT_TRUE(did<EpochUntested>());
  EXPECT_FALSE(did<Notice>());
  expect_good_end();
}

TEST_F(ChiefTest, OfARingEndsWhenAllIsSavedAndNobodyAtAllIsLeft) {
  start(true);
  train_all();
  do_all(core_->saved(4));
  do_all(core_->lost(server_, kKilled));  // another is asked to keep the version for the test
  for (const std::uint32_t member : {evaluator_, worker0_, worker1_}) {
    do_all(core_->lost(member, kKilled));
  }
  EXPECT_TRUE(did<EpochUntested>());
  expect_good_end();
}

TEST_F(ChiefTest, NeedsNoAsynchronousWorkerWhileTheLastVersionIsTested) {
  start(false, Mode::kAsync);
  for (const std::uint64_t first : {0U, 2U}) {
    committed(worker0_, first);
    committed(worker1_, first + 1);
    EXPECT_THAT(told<wire::Pin>(), ElementsAre(server_));
    complete(server_, first + 2, true);
  }
  do_all(core_->saved(2));
  evaluated(2);
  do_all(core_->lost(worker0_, kKilled));
  do_all(core_->lost(worker1_, kKilled));
  EXPECT_THAT(told<wire::Stop>(), IsEmpty());
  EXPECT_FALSE(ended_);
  do_all(core_->saved(4));
  evaluated(4);
  expect_good_end();
}

// Workers may take as long as they need to finish what they have begun.
TEST_F(ChiefTest, WaitsForAsynchronousWorkersUntilNobodyGetsOn) {
  start(false, Mode::kAsync);
  do_all(core_->stop());
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(worker0_, worker1_));
  EXPECT_EQ(core_->waited_for(), "worker0, worker1");
  do_all(core_->quiet(worker0_));
  EXPECT_THAT(told<wire::Stop>(), IsEmpty());
  EXPECT_EQ(core_->waited_for(), "worker1");
  do_all(core_->hurry());
  EXPECT_THAT(told<wire::Stop>(), ElementsAre(server_));
  EXPECT_EQ(core_->waited_for(), "server0");
  do_all(core_->hurry());
  ASSERT_TRUE(ended_);
  EXPECT_TRUE(ended_->interrupted);
}

}  // namespace
}  // namespace paceline

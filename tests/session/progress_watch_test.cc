#include "session/progress_watch.h"

#include <gmock/gmock.h>

namespace paceline {
namespace {

using std::chrono::seconds;

constexpr Duration kDeadline = seconds(60);
const TimePoint kStart = TimePoint() + seconds(1000);

class Watch : public ::testing::Test {
 protected:
  wire::Heartbeat beat(wire::Activity::Kind kind, std::uint64_t done, double cpu = 0) const {
    wire::Heartbeat beat;
    wire::Activity& activity = *beat.add_activities();
    activity.set_thread("training");
    activity.set_kind(kind);
    activity.set_doing("reading the data of step 3");
    activity.set_done(done);
    activity.set_cpu_seconds(cpu);
    return beat;
  }
  // Beats every second until `end`, with counts and processor time that grow so much a second.
  void beats(wire::Activity::Kind kind, int end, double count, double cpu) {
    for (int i = 0; i <= end; ++i) {
      watch_.heard(1, beat(kind, static_cast<std::uint64_t>(i * count), i * cpu),
                   kStart + seconds(i));
    }
  }
  ProgressWatch watch_{kDeadline, kStart};
};

TEST_F(Watch, AThreadThatIsBusyAndDoesNothingIsStuckAfterTheDeadline) {
  beats(wire::Activity::BUSY, 59, 0, 0);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(59)).empty());
  const auto stuck = watch_.stuck(kStart + seconds(60));
  ASSERT_EQ(stuck.size(), 1U);
  EXPECT_EQ(stuck[0].member, 1U);
  EXPECT_EQ(stuck[0].doing, "reading the data of step 3");
  EXPECT_EQ(stuck[0].still, kDeadline);
}

TEST_F(Watch, CountsAreProgress) {
  beats(wire::Activity::BUSY, 600, 0.1, 0);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(600)).empty());
  EXPECT_LT(watch_.still(kStart + seconds(600)), kDeadline);
}

TEST_F(Watch, ALongComputationIsSlowNotStuck) {
  beats(wire::Activity::BUSY, 600, 0, 0.3);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(600)).empty());
  EXPECT_LT(watch_.still(kStart + seconds(600)), kDeadline);
}

TEST_F(Watch, LookingNowAndThenWhetherItMayGoOnIsNoProgress) {
  beats(wire::Activity::BUSY, 60, 0, 0.01);
  EXPECT_EQ(watch_.stuck(kStart + seconds(60)).size(), 1U);
}

TEST_F(Watch, WhoeverWaitsIsNotToBlameButTheRunMayBeStuck) {
  beats(wire::Activity::WAITING, 600, 0, 0.5);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(600)).empty());
  EXPECT_EQ(watch_.still(kStart + seconds(600)), seconds(600));
}

// Of one message that takes longer than the deadline.
TEST_F(Watch, BytesThatMoveAreProgressOfTheRun) {
  for (int i = 0; i <= 600; ++i) {
    wire::Heartbeat slow = beat(wire::Activity::WAITING, 7);
    slow.set_bytes_in(static_cast<std::uint64_t>(1000 * (i / 50)));
    watch_.heard(1, slow, kStart + seconds(i));
  }
  EXPECT_LT(watch_.still(kStart + seconds(600)), kDeadline);
  wire::Heartbeat silent = beat(wire::Activity::WAITING, 7);
  silent.set_bytes_in(1000 * (600 / 50));
  for (int i = 601; i <= 660; ++i) watch_.heard(1, silent, kStart + seconds(i));
  EXPECT_EQ(watch_.still(kStart + seconds(660)), kDeadline);
}

TEST_F(Watch, SoAreThoseThatMoveInTheMidstOfARingsMessage) {
  for (int i = 0; i <= 600; ++i) {
    wire::Heartbeat slow = beat(wire::Activity::WAITING, 7);
    slow.set_moved(static_cast<std::uint64_t>(1000 * (i / 50)));
    watch_.heard(1, slow, kStart + seconds(i));
  }
  EXPECT_LT(watch_.still(kStart + seconds(600)), kDeadline);
}

TEST_F(Watch, BytesThatMoveDoNotHideAThreadThatHangs) {
  for (int i = 0; i <= 60; ++i) {
    wire::Heartbeat hanging = beat(wire::Activity::BUSY, 7);
    hanging.set_bytes_out(static_cast<std::uint64_t>(1000 * i));
    watch_.heard(1, hanging, kStart + seconds(i));
  }
  EXPECT_EQ(watch_.stuck(kStart + seconds(60)).size(), 1U);
}

TEST_F(Watch, TurnsOfAServerShowThatItLivesNotThatTheRunGetsOn) {
  beats(wire::Activity::SERVING, 600, 1, 0);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(600)).empty());
  EXPECT_EQ(watch_.still(kStart + seconds(600)), seconds(600));
}

TEST_F(Watch, AServerThatAppliesAtLengthGetsOn) {
  beats(wire::Activity::SERVING, 600, 0, 0.9);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(600)).empty());
  EXPECT_LT(watch_.still(kStart + seconds(600)), kDeadline);
}

TEST_F(Watch, AServerThatIsSilentIsStuck) {
  beats(wire::Activity::SERVING, 5, 1, 0);
  EXPECT_EQ(watch_.stuck(kStart + seconds(65)).size(), 1U);
}

TEST_F(Watch, OneThreadDoesNotHideAnother) {
  for (int i = 0; i <= 60; ++i) {
    wire::Heartbeat both = beat(wire::Activity::BUSY, 7);
    *both.add_activities() = both.activities(0);
    both.mutable_activities(1)->set_thread("setting up");
    both.mutable_activities(1)->set_done(static_cast<std::uint64_t>(i));
    watch_.heard(1, both, kStart + seconds(i));
  }
  EXPECT_EQ(watch_.stuck(kStart + seconds(60)).size(), 1U);
}

TEST_F(Watch, AThreadThatIsNoLongerToldOfHasEnded) {
  beats(wire::Activity::BUSY, 30, 0, 0);
  for (int i = 31; i <= 60; ++i) watch_.heard(1, wire::Heartbeat(), kStart + seconds(i));
  EXPECT_TRUE(watch_.stuck(kStart + seconds(60)).empty());
}

TEST_F(Watch, WhoeverIsForgottenOrForgivenBeginsAnew) {
  beats(wire::Activity::BUSY, 60, 0, 0);
  watch_.forgive(kStart + seconds(60));
  EXPECT_TRUE(watch_.stuck(kStart + seconds(61)).empty());
  EXPECT_EQ(watch_.stuck(kStart + seconds(120)).size(), 1U);
  watch_.forget(1);
  EXPECT_TRUE(watch_.stuck(kStart + seconds(120)).empty());
}

}  // namespace
}  // namespace paceline

#include "base/activity.h"

#include <gtest/gtest.h>

#include <thread>

namespace paceline {
namespace {

TEST(Activity, SaysWhatTheThreadDoes) {
  Activity activity("training");
  EXPECT_EQ(activity.state().kind, Activity::Kind::kIdle);
  EXPECT_EQ(activity.state().doing, "");
  activity.at(12);
  activity.begin(Activity::Kind::kBusy, "reading the data of step");
  const Activity::State state = activity.state();
  EXPECT_EQ(state.thread, "training");
  EXPECT_EQ(state.kind, Activity::Kind::kBusy);
  EXPECT_EQ(state.doing, "reading the data of step 12");
}

TEST(Activity, GrowsWithWhatIsBegunAndCounted) {
  Activity activity("testing");
  const std::uint64_t before = activity.state().done;
  activity.begin(Activity::Kind::kBusy, "testing");
  const std::uint64_t begun = activity.state().done;
  EXPECT_GT(begun, before);
  activity.count();
  EXPECT_GT(activity.state().done, begun);
}

TEST(Activity, KnowsTheProcessorTimeOfTheThreadThatAdoptedIt) {
  Activity activity("training");
  EXPECT_EQ(activity.state().cpu_seconds, 0);
  std::atomic<bool> over = false;
  std::atomic<bool> adopted = false;
  std::thread thread([&] {
    activity.adopt();
    adopted = true;
    while (!over) {
    }
  });
  while (!adopted || activity.state().cpu_seconds == 0) std::this_thread::yield();
  const double before = activity.state().cpu_seconds;
  while (activity.state().cpu_seconds == before) std::this_thread::yield();
  over = true;
  thread.join();
}

}  // namespace
}  // namespace paceline

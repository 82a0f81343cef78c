#include "net/loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace paceline {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint soon() {
  return Clock::now() + seconds(20);
}

TEST(Loop, WorkPostedFromManyThreadsRunsOnceEachInTheLoopsThread) {
  for (const Duration spin : {Duration(microseconds(100)), Duration::zero()}) {
    Loop loop(spin);
    const auto home = std::this_thread::get_id();
    int ran = 0;
    bool elsewhere = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          loop.post([&] {
            ++ran;
            elsewhere = elsewhere || std::this_thread::get_id() != home;
          });
        }
      });
    }
    EXPECT_TRUE(loop.run_until([&] { return ran == 2000; }, soon()));
    EXPECT_FALSE(elsewhere);
    for (auto& thread : threads) thread.join();
  }
}

TEST(Loop, PostedWorkKeepsItsOrder) {
  Loop loop;
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) loop.post([&order, i] { order.push_back(i); });
  loop.poll();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Loop, RunUntilAsksBeforeItWaits) {
  Loop loop;
  EXPECT_TRUE(loop.run_until([] { return true; }, TimePoint::max()));
}

TEST(Loop, RunUntilGivesUpAtTheDeadline) {
  Loop loop;
  const TimePoint deadline = Clock::now() + milliseconds(5);
  EXPECT_FALSE(loop.run_until([] { return false; }, deadline));
  EXPECT_GE(Clock::now(), deadline);
}

TEST(Loop, StopFromAnotherThreadEndsABlockedRun) {
  Loop loop(Duration::zero());
  std::thread other([&] { loop.stop(); });
  loop.run();
  other.join();
}

TEST(Loop, StopEndsOneRunOnly) {
  Loop loop;
  loop.stop();
  EXPECT_FALSE(loop.run_until([] { return false; }, TimePoint::max()));
  int ran = 0;
  loop.post([&] { ++ran; });
  EXPECT_TRUE(loop.run_until([&] { return ran == 1; }, soon()));
}

TEST(Loop, TimerFiresOnceNotBeforeItsTime) {
  Loop loop;
  int fired = 0;
  const TimePoint start = Clock::now();
  TimePoint when;
  const auto token = loop.after(milliseconds(3), [&] {
    ++fired;
    when = Clock::now();
  });
  EXPECT_TRUE(loop.run_until([&] { return fired > 0; }, soon()));
  EXPECT_GE(when - start, milliseconds(3));
  loop.run_until([] { return false; }, Clock::now() + milliseconds(10));
  EXPECT_EQ(fired, 1);
}

TEST(Loop, TimersFireInTheOrderOfTheirTimes) {
  Loop loop;
  std::vector<int> order;
  const auto late = loop.after(milliseconds(4), [&] { order.push_back(2); });
  const auto early = loop.after(milliseconds(1), [&] { order.push_back(1); });
  EXPECT_TRUE(loop.run_until([&] { return order.size() == 2; }, soon()));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Loop, RepeatingTimerFiresUntilItsTokenDies) {
  Loop loop;
  int fired = 0;
  auto token = loop.every(milliseconds(1), [&] { ++fired; });
  EXPECT_TRUE(loop.run_until([&] { return fired >= 3; }, soon()));
  token.reset();
  const int before = fired;
  loop.run_until([] { return false; }, Clock::now() + milliseconds(10));
  EXPECT_EQ(fired, before);
}

TEST(Loop, TimerMayDropItsOwnToken) {
  Loop loop;
  int fired = 0;
  Loop::Token token;
  token = loop.every(milliseconds(1), [&] {
    ++fired;
    token.reset();
  });
  loop.run_until([] { return false; }, Clock::now() + milliseconds(10));
  EXPECT_EQ(fired, 1);
}

TEST(Loop, DroppedTimerNeverFires) {
  Loop loop;
  bool fired = false;
  loop.after(Duration::zero(), [&] { fired = true; }).reset();
  loop.run_until([] { return false; }, Clock::now() + milliseconds(5));
  EXPECT_FALSE(fired);
}

TEST(Loop, ExceptionOfAHandlerComesOutAndTheLoopGoesOn) {
  Loop loop;
  int ran = 0;
  loop.post([] { throw std::runtime_error("from the handler"); });
  loop.post([&] { ++ran; });
  EXPECT_THROW(loop.run_until([&] { return ran == 1; }, soon()), std::runtime_error);
  EXPECT_TRUE(loop.run_until([&] { return ran == 1; }, soon()));
}

TEST(Loop, PollReturnsAlthoughWorkKeepsComing) {
  Loop loop;
  std::function<void()> again = [&] { loop.post(again); };
  loop.post(again);
  loop.poll();
}

struct Counter final : Pollable {
  bool poll() override {
    ++polled;
    if (work == 0) return false;
    --work;
    return true;
  }
  void arm() override { ++armed; }
  int polled = 0;
  int armed = 0;
  int work = 0;
};

TEST(Loop, PollablesAreAskedUntilIdleAndArmedBeforeBlocking) {
  Loop loop(Duration::zero());
  Counter counter;
  counter.work = 5;
  loop.watch(counter);
  loop.run_until([] { return false; }, Clock::now() + milliseconds(1));
  EXPECT_EQ(counter.work, 0);
  EXPECT_GE(counter.armed, 1);
  loop.unwatch(counter);
  const int before = counter.polled;
  loop.poll();
  EXPECT_EQ(counter.polled, before);
}

}  // namespace
}  // namespace paceline

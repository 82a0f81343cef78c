#include "base/threads.h"

#include <gtest/gtest.h>

#include <array>
#include <latch>

#include "base/error.h"

namespace paceline {
namespace {

TEST(Threads, EachHasANumber) {
  std::array<std::atomic<int>, 4> calls{};
  Threads threads;
  threads.start(calls.size(), [&](std::size_t number) { ++calls.at(number); });
  threads.join();
  EXPECT_FALSE(threads.running());
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(Threads, RunUntilTheLastHasEnded) {
  std::latch gate(1);
  Threads threads;
  threads.start(2, [&](std::size_t number) {
    if (number == 1) gate.wait();
  });
  EXPECT_TRUE(threads.running());
  gate.count_down();
  threads.join();
  EXPECT_FALSE(threads.running());
}

TEST(Threads, WhatOneThrowsComesOutOfJoinWhenAllHaveEnded) {
  std::atomic<int> ended = 0;
  Threads threads;
  threads.start(3, [&](std::size_t number) {
    ++ended;
    if (number == 1) throw DataError("bad {}", number);
  });
  EXPECT_THROW(threads.join(), DataError);
  EXPECT_EQ(ended, 3);
  EXPECT_NO_THROW(threads.join());
}

// All must be at work at once, or nobody passes.
TEST(OnThreads, CallsAtTheSameTimeAndOnceFromHere) {
  std::latch all(3);
  std::array<std::thread::id, 3> ids;
  on_threads(3, [&](std::size_t number) {
    all.arrive_and_wait();
    ids.at(number) = std::this_thread::get_id();
  });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], ids[2]);
}

TEST(OnThreads, NoneIsFine) {
  on_threads(0, [](std::size_t) { FAIL(); });
}

TEST(OnThreads, ThrowsFromHereWhenAllHaveEnded) {
  for (const std::size_t bad : {0U, 1U}) {
    std::atomic<int> ended = 0;
    const auto work = [&](std::size_t number) {
      ++ended;
      if (number == bad) throw DataError("bad");
    };
    EXPECT_THROW(on_threads(2, work), DataError) << bad;
    EXPECT_EQ(ended, 2) << bad;
  }
}

}  // namespace
}  // namespace paceline

#include "base/threads.h"

#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <vector>

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

TEST(EachNumber, IsTakenOnceByHoweverManyThreads) {
  for (const std::size_t threads : {1U, 2U, 5U, 200U}) {
    std::vector<std::atomic<int>> calls(100);
    for_each_number(calls.size(), threads, [&](std::size_t number) { ++calls[number]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
  for_each_number(0, 4, [](std::size_t) { FAIL(); });
}

TEST(EachNumber, IsTakenInOrder) {
  std::vector<std::size_t> taken;
  for_each_number(4, 1, [&](std::size_t number) { taken.push_back(number); });
  EXPECT_EQ(taken, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(EachNumber, AfterAFailureIsNotBegun) {
  for (const std::size_t threads : {1U, 3U}) {
    std::atomic<std::size_t> begun = 0;
    const auto work = [&](std::size_t number) {
      ++begun;
      if (number >= 10) throw DataError("bad");
    };
    EXPECT_THROW(for_each_number(1000, threads, work), DataError);
    EXPECT_LE(begun, 10 + threads);
  }
}

// The lower number fails when the higher one has.
TEST(EachNumber, TheLowestThatFailedTellsWhy) {
  std::latch begun(2);
  std::latch failing(1);
  try {
    for_each_number(2, 2, [&](std::size_t number) {
      begun.arrive_and_wait();
      if (number == 0) failing.wait();
      if (number == 1) failing.count_down();
      throw DataError("bad {}", number);
    });
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "bad 0");
  }
}

}  // namespace
}  // namespace paceline

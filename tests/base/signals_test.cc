#include "base/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/clock.h"

namespace paceline {
namespace {

TEST(SignalWatcher, CallsBackForEachSignal) {
  std::atomic<int> caught = 0;
  const SignalWatcher watcher({SIGUSR1}, [&](int signal) {
    EXPECT_EQ(signal, SIGUSR1);
    ++caught;
  });
  const TimePoint limit = Clock::now() + std::chrono::seconds(10);
  for (int sent = 1; sent <= 3; ++sent) {
    ::kill(::getpid(), SIGUSR1);
    while (caught < sent && Clock::now() < limit) std::this_thread::yield();
    EXPECT_EQ(caught, sent);
  }
}

// The second signal is sent by what the first one calls: there is no race.
TEST(StopSignals, ASecondCtrlCEndsTheProcessAtOnce) {
  const auto stopped_twice = [](int first, int second) {
    const StopSignals signals({SIGINT, SIGTERM}, [second] { ::kill(::getpid(), second); });
    ::kill(::getpid(), first);
    while (true) ::pause();
  };
  EXPECT_EXIT(stopped_twice(SIGINT, SIGINT), testing::ExitedWithCode(130), "");
  EXPECT_EXIT(stopped_twice(SIGTERM, SIGINT), testing::ExitedWithCode(130), "");
}

TEST(StopSignals, CallOnceWhateverComesButCtrlC) {
  std::atomic<int> called = 0;
  {
    const StopSignals signals({SIGTERM, SIGHUP}, [&] { ++called; });
    for (const int signal : {SIGTERM, SIGTERM, SIGHUP}) {
      ::kill(::getpid(), signal);
      const TimePoint limit = Clock::now() + std::chrono::seconds(10);
      sigset_t pending;
      do {
        ::sigpending(&pending);
      } while (::sigismember(&pending, signal) == 1 && Clock::now() < limit);
    }
  }
  EXPECT_EQ(called, 1);
}

TEST(StopSignals, AFurtherOneIsFirstForWhoeverWaits) {
  const auto stopped = [](int second, bool waits) {
    std::atomic<bool> given_up = false;
    const StopSignals signals(
        {SIGINT, SIGTERM}, [second] { ::kill(::getpid(), second); },
        [&] {
          given_up = true;
          return waits;
        });
    ::kill(::getpid(), SIGTERM);
    while (!given_up) std::this_thread::yield();
    while (!waits) ::pause();
    std::_Exit(3);  // in order, with words of its own
  };
  EXPECT_EXIT(stopped(SIGINT, true), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(stopped(SIGTERM, true), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(stopped(SIGINT, false), testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace paceline

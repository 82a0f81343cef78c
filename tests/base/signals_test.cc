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

}  // namespace
}  // namespace paceline

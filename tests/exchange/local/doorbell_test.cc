#include "exchange/local/doorbell.h"

#include <gtest/gtest.h>

#include <thread>

namespace paceline {
namespace {

// Two threads take turns; a wake-up that gets lost leaves them waiting for ever.
void take_turns(Duration longest_spin) {
  constexpr int kTurns = 20'000;
  Doorbell bell;
  std::atomic<int> turn = 0;
  const auto play = [&](int parity) {
    Spin spin(longest_spin);
    for (int mine = parity; mine < kTurns; mine += 2) {
      bell.wait(spin, [&] { return turn.load(std::memory_order_acquire) == mine; });
      turn.store(mine + 1, std::memory_order_release);
      bell.ring();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, kTurns);
}

TEST(DoorbellTest, WakesThoseWhoPoll) {
  take_turns(std::chrono::seconds(1));
}

TEST(DoorbellTest, WakesThoseWhoSleep) {
  take_turns(Duration::zero());
}

TEST(DoorbellTest, WakesThoseWhoAreFallingAsleep) {
  take_turns(std::chrono::microseconds(5));
}

}  // namespace
}  // namespace paceline

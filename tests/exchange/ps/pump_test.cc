#include "exchange/ps/pump.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <optional>
#include <stdexcept>

namespace paceline {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

void never(const Error& reason) {
  ADD_FAILURE() << reason.what();
}

TEST(Pump, RunsTheLoopWhileItsOwnerDoesNot) {
  Loop loop(Duration::zero());
  Pump pump(loop, never);
  pump.start();
  for (int round = 0; round < 100; ++round) {
    std::promise<std::thread::id> ran;
    loop.post([&] { ran.set_value(std::this_thread::get_id()); });
    auto by = ran.get_future();
    ASSERT_EQ(by.wait_for(kPatience), std::future_status::ready);
    EXPECT_NE(by.get(), std::this_thread::get_id());
    const Pump::Hold hold(pump);
  }
}

TEST(Pump, LeavesTheLoopToWhoHoldsIt) {
  Loop loop(Duration::zero());
  Pump pump(loop, never);
  pump.start();
  for (int round = 0; round < 100; ++round) {
    const Pump::Hold hold(pump);
    const Pump::Hold again(pump);
    int ran = 0;
    for (int i = 0; i < 10; ++i) {
      loop.post([&, owner = std::this_thread::get_id()] {
        EXPECT_EQ(std::this_thread::get_id(), owner);
        ++ran;
      });
    }
    EXPECT_TRUE(loop.run_until([&] { return ran == 10; }, Clock::now() + kPatience));
  }
}

TEST(Pump, WithoutAThreadTheLoopIsTheOwners) {
  Loop loop(Duration::zero());
  Pump pump(loop, never);
  const Pump::Hold hold(pump);
  bool ran = false;
  loop.post([&] { ran = true; });
  EXPECT_TRUE(loop.run_until([&] { return ran; }, Clock::now() + kPatience));
}

// What a pump tells when this throws in its thread.
std::optional<Error> failure_of_pump(const std::function<void()>& handler) {
  Loop loop(Duration::zero());
  std::promise<Error> told;
  Pump pump(loop, [&](const Error& reason) { told.set_value(reason); });
  pump.start();
  loop.post(handler);
  auto reason = told.get_future();
  if (reason.wait_for(kPatience) != std::future_status::ready) return std::nullopt;
  const Pump::Hold hold(pump);  // it can still be taken
  return reason.get();
}

TEST(Pump, TellsWhatAHandlerThrew) {
  const std::optional<Error> told = failure_of_pump([] { throw std::runtime_error("broken"); });
  ASSERT_TRUE(told);
  EXPECT_STREQ(told->what(), "unexpected: broken");
  EXPECT_EQ(told->code(), ExitCode::kInternal);
}

TEST(Pump, TellsWhatLedToTheErrorOfAHandler) {
  const std::optional<Error> told =
      failure_of_pump([] { throw DataError(Error("the disk is full"), "cannot write x"); });
  ASSERT_TRUE(told);
  EXPECT_EQ(told->code(), ExitCode::kData);
  ASSERT_EQ(told->reasons().size(), 2U);
  EXPECT_EQ(told->reasons()[1].sentence, "the disk is full");
}

// Waits until the pump's thread has come round; it is asked for that by everyone who looks.
bool gets_on(Pump& pump) {
  const std::uint64_t before = pump.look().state().done;
  const TimePoint limit = Clock::now() + kPatience;
  while (pump.look().state().done == before && Clock::now() < limit) std::this_thread::yield();
  return pump.look().state().done != before;
}

TEST(Pump, IsSeenToServeWhileItRunsAndToHangInAHandlerThatDoes) {
  Loop loop(Duration::zero());
  Pump pump(loop, never);
  pump.start();
  ASSERT_TRUE(gets_on(pump));
  EXPECT_EQ(pump.look().state().kind, Activity::Kind::kServing);
  std::promise<void> begun;
  std::promise<void> may_end;
  loop.post([&] {
    begun.set_value();
    may_end.get_future().wait();
  });
  begun.get_future().wait();
  const std::uint64_t done = pump.look().state().done;
  EXPECT_EQ(pump.look().state().done, done);
  EXPECT_EQ(pump.look().state().kind, Activity::Kind::kServing);
  may_end.set_value();
  EXPECT_TRUE(gets_on(pump));
}

// Or a thread that only waits would look as if it got on.
TEST(Pump, DoesNotCountTheTurnsOfItsOwner) {
  Loop loop(Duration::zero());
  Pump pump(loop, never);
  pump.start();
  const Pump::Hold hold(pump);
  const std::uint64_t done = pump.look().state().done;
  bool ran = false;
  loop.post([&] { ran = true; });  // behind the turn
  ASSERT_TRUE(loop.run_until([&] { return ran; }, Clock::now() + kPatience));
  EXPECT_EQ(pump.look().state().done, done);
  EXPECT_EQ(pump.look().state().kind, Activity::Kind::kIdle);
}

}  // namespace
}  // namespace paceline

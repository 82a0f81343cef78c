#include "base/spin.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

using namespace std::chrono_literals;

const TimePoint kStart = TimePoint() + 1h;

TEST(SpinTest, PollsForAWhileAndThenBlocks) {
  Spin spin(100us);
  EXPECT_TRUE(spin.again(kStart));
  EXPECT_TRUE(spin.again(kStart + 99us));
  EXPECT_FALSE(spin.again(kStart + 100us));
}

TEST(SpinTest, WorkStartsTheWhileAgain) {
  Spin spin(100us);
  EXPECT_TRUE(spin.again(kStart));
  spin.worked();
  EXPECT_TRUE(spin.again(kStart + 150us));
  EXPECT_TRUE(spin.again(kStart + 249us));
  EXPECT_FALSE(spin.again(kStart + 250us));
}

TEST(SpinTest, ZeroBlocksAtOnce) {
  Spin spin(0us);
  EXPECT_FALSE(spin.again(kStart));
}

TEST(SpinTest, ALongYieldIsMadeUpForByBlocking) {
  Spin spin(100us);
  EXPECT_TRUE(spin.again(kStart));
  spin.yielded(kStart, kStart + 4ms);  // someone kept the core
  spin.worked();
  EXPECT_FALSE(spin.again(kStart + 5ms));
  EXPECT_FALSE(spin.again(kStart + 200ms));
  EXPECT_TRUE(spin.again(kStart + 205ms));
}

TEST(SpinTest, ShortYieldsCostNothing) {
  Spin spin(100us);
  spin.yielded(kStart, kStart + 300us);
  EXPECT_TRUE(spin.again(kStart + 300us));
}

}  // namespace
}  // namespace paceline

#include "base/denormals.h"

#include <gtest/gtest.h>

#include <thread>

namespace paceline {
namespace {

// Computed when the test runs, not when it is compiled.
float product(float a, float b) {
  volatile float factor = a;
  return factor * b;
}

TEST(Denormals, AreZeroInAThreadThatSaysSoAndInThoseItStarts) {
  constexpr float kSmallest = 1.17549435e-38F;  // with a leading one
  EXPECT_GT(product(kSmallest, 0.5F), 0);
  float result = 1;
  float argument = 1;
  float below = 1;
  std::thread([&] {
    flush_denormals();
    result = product(kSmallest, 0.5F);
    argument = product(kSmallest / 2, 2);
    std::thread([&] { below = product(kSmallest, 0.5F); }).join();
  }).join();
  EXPECT_EQ(result, 0);
  EXPECT_EQ(argument, 0);
  EXPECT_EQ(below, 0);
  EXPECT_GT(product(kSmallest, 0.5F), 0);  // others are left alone
}

}  // namespace
}  // namespace paceline

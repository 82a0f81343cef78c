#include "exchange/ps/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace paceline {
namespace {

using ::testing::ElementsAre;

std::vector<float> floats_of(const Payload& payload) {
  const auto* first = reinterpret_cast<const float*>(payload.bytes.data());
  return {first, first + payload.bytes.size() / sizeof(float)};
}

// A step of which one chunk was applied before another turned out not to be finite: the
// version before is what it was, the optimizer's state included.
TEST(Shard, KeepsTheVersionBeforeAStepThatIsNotFinite) {
  ShardOptions options;
  options.optimizer.kind = OptimizerKind::kMomentum;
  options.groups = {{{0, 4}, 1, 1}};
  options.grid = {4, 4, 1};
  options.keep_previous_state = true;
  Shard shard(ChunkMap(4, 1, 2), 0, options, Schedule({.rate = 1}, 4, 4, 1));
  shard.load(0, 0, std::vector<float>{1, 2}, std::vector<float>{5, 6});
  shard.load(1, 0, std::vector<float>{3, 4}, std::vector<float>{7, 8});
  const auto push = [&](std::uint32_t chunk, float a, float b) {
    auto contribution = shard.landing(chunk, 2 * sizeof(float));
    contribution->as_floats()[0] = a;
    contribution->as_floats()[1] = b;
    shard.accumulate(chunk, true, {0, 4}, contribution);
  };
  push(1, 4, 8);
  ASSERT_TRUE(shard.is_finite(1, 0));
  shard.apply({.chunk = 1, .step = 0, .weight = 4, .scale = 1, .version = 1, .examples_before = 0});
  EXPECT_NE(floats_of(shard.values(1, 1, true)), floats_of(shard.values(1, 0, true)));
  push(0, 1, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(shard.is_finite(0, 0));
  EXPECT_THAT(floats_of(shard.values(0, 0, true)), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(floats_of(shard.values(1, 0, true)), ElementsAre(3, 4, 7, 8));
}

}  // namespace
}  // namespace paceline

#include "exchange/ps/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
    wire::Push message;
    message.set_chunk(chunk);
    const Gradient gradient = shard.landing(1, message, {0, 4});
    gradient.values->as_floats()[0] = a;
    gradient.values->as_floats()[1] = b;
    shard.accumulate(chunk, true, {0, 4}, gradient);
  };
  push(1, 4, 8);
  ASSERT_TRUE(shard.is_finite(1, 0));
  shard.apply({.chunk = 1, .step = 0, .weight = 4, .scale = 1, .version = 1, .examples_before = 0},
              {});
  EXPECT_NE(floats_of(shard.values(1, 1, true)), floats_of(shard.values(1, 0, true)));
  push(0, 1, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(shard.is_finite(0, 0));
  EXPECT_THAT(floats_of(shard.values(0, 0, true)), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(floats_of(shard.values(1, 0, true)), ElementsAre(3, 4, 7, 8));
}

// The rows of an embedding that a batch does not touch have no gradient: they do not change.
TEST(Shard, KnowsTheBlocksThatHaveChanged) {
  constexpr std::size_t kEightBlocks = 8 * kBlockFloats;
  ShardOptions options;
  options.groups = {{{0, kEightBlocks}, 1, 1}};
  options.grid = {4, 4, 1};
  Shard shard(ChunkMap(kEightBlocks, 1), 0, options, Schedule({.rate = 1}, 4, 4, 1));
  shard.load(0, 7, std::vector<float>(kEightBlocks, 1), {});
  const auto step = [&](std::uint64_t version, std::initializer_list<std::size_t> touched) {
    const Gradient gradient = shard.landing(1, {}, {0, 4});
    std::ranges::fill(gradient.values->as_floats(), 0.0F);
    for (const std::size_t block : touched) gradient.values->as_floats()[block * kBlockFloats] = 4;
    shard.accumulate(0, true, {0, 4}, gradient);
    shard.apply({.chunk = 0,
                 .step = version - 1,
                 .weight = 4,
                 .scale = 1,
                 .version = version,
                 .examples_before = 0},
                {});
  };
  EXPECT_FALSE(shard.changed(0, 7, 6).has_value());
  step(8, {2});
  step(9, {5, 6});
  const auto since_7 = shard.changed(0, 9, 7);
  ASSERT_TRUE(since_7.has_value());
  EXPECT_EQ(since_7->count(), 3U);
  EXPECT_TRUE(since_7->contains(2) && since_7->contains(5) && since_7->contains(6));
  EXPECT_EQ(shard.changed(0, 9, 8)->count(), 2U);
  EXPECT_FALSE(shard.changed(0, 8, 7).has_value());  // not the newest
  EXPECT_EQ(floats_of(shard.values(0, 9, false))[2 * kBlockFloats], 0);
}

// One chunk of two parameters under Adam, which keeps two numbers for each.
class ShardState : public ::testing::Test {
 protected:
  static ShardOptions with_adam() {
    ShardOptions options;
    options.optimizer.kind = OptimizerKind::kAdam;
    options.groups = {{{0, 2}, 1, 1}};
    options.grid = {4, 4, 1};
    return options;
  }

  void SetUp() override { shard_.load(0, 0, std::vector<float>{1, 2}, {}); }

  void step(double scale = 1) {
    const Gradient gradient = shard_.landing(1, {}, {0, 4});
    std::ranges::fill(gradient.values->as_floats(), 4.0F);
    shard_.accumulate(0, true, {0, 4}, gradient);
    shard_.apply({.chunk = 0,
                  .step = version_,
                  .weight = 4,
                  .scale = scale,
                  .version = version_ + 1,
                  .examples_before = 0},
                 {});
    ++version_;
  }
  const std::byte* address() { return shard_.state(0, version_).bytes.data(); }

  Shard shard_{ChunkMap(2, 1), 0, with_adam(), Schedule({.rate = 1}, 4, 4, 1)};
  std::uint64_t version_ = 0;
};

TEST_F(ShardState, IsUpdatedInPlaceWhileNobodyHoldsIt) {
  const std::byte* const first = address();
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> before = floats_of(shard_.state(0, version_));
    step();
    EXPECT_EQ(address(), first);
    EXPECT_NE(floats_of(shard_.state(0, version_)), before);
  }
  step(0);  // a step that changes nothing shares it with the version before
  step();
  EXPECT_EQ(address(), first);
}

TEST_F(ShardState, OfAPinnedVersionNeverChanges) {
  step();
  shard_.pin(1);
  const std::byte* const first = address();
  const std::vector<float> pinned = floats_of(shard_.values(0, 1, true));
  step();
  EXPECT_NE(address(), first);
  step();
  step();
  EXPECT_EQ(floats_of(shard_.values(0, 1, true)), pinned);
  shard_.release(1);
  const std::byte* const settled = address();
  step();
  EXPECT_EQ(address(), settled);
}

TEST_F(ShardState, DoesNotChangeWhileAReaderHoldsIt) {
  const Payload held = shard_.state(0, 0);
  step();
  EXPECT_NE(address(), held.bytes.data());
  EXPECT_THAT(floats_of(held), ElementsAre(0, 0, 0, 0));
}

TEST_F(ShardState, OfTheVersionBeforeIsRefusedOnceItIsOverwritten) {
  step();
  EXPECT_THAT(floats_of(shard_.values(0, 0, false)), ElementsAre(1, 2));
  EXPECT_THROW(shard_.values(0, 0, true), FrameError);
}

}  // namespace
}  // namespace paceline

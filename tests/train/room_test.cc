#include "train/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "train/synthetic_config.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Room, ACheckpointHasParametersAndTheOptimizersState) {
  RunConfig config = synthetic();  // 10 classes of 100 inputs and a bias
  EXPECT_EQ(checkpoint_bytes(config, make_workload(config)), 4U * 1010);
  config.optimizer.kind = OptimizerKind::kAdam;
  EXPECT_EQ(checkpoint_bytes(config, make_workload(config)), 3U * 4 * 1010);
}

TEST(Room, ADiskThatHoldsNoCheckpointIsRefusedWithTheNumbers) {
  RunConfig config = synthetic();
  config.run_dir = "runs/x";
  try {
    check_room(config, 5000, 4999);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("runs/x has room for"), HasSubstr("5.00 kB"),
                                    HasSubstr("--run-dir")));
  }
}

TEST(Room, CheckpointsThatDoNotAllFitAreWarnedOf) {
  RunConfig config = synthetic();
  config.run_dir = "runs/x";
  config.epochs = 10;
  config.keep_checkpoints = 3;  // and one that is being written
  EXPECT_EQ(check_room(config, 1000, 4000), "");
  EXPECT_THAT(check_room(config, 1000, 3999), HasSubstr("up to 4.00 kB"));
  config.keep_checkpoints = 0;  // all
  EXPECT_EQ(check_room(config, 1000, 10'000), "");
  EXPECT_THAT(check_room(config, 1000, 9999), HasSubstr("--keep-checkpoints"));
  config.checkpoint_every = 4;  // after 4, 8 and 10
  EXPECT_EQ(check_room(config, 1000, 3000), "");
  EXPECT_NE(check_room(config, 1000, 2999), "");
  config.checkpoint_every = 0;  // at the end
  EXPECT_EQ(check_room(config, 1000, 1000), "");
  config.checkpoint_every = 1;
  config.resume = config.run_dir;  // which has them
  EXPECT_EQ(check_room(config, 1000, 1000), "");
}

}  // namespace
}  // namespace paceline

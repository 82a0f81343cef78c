#include "train/server_options.h"

#include <gtest/gtest.h>

#include "train/synthetic_config.h"

namespace paceline {
namespace {

// Whether the first server of such a run keeps the optimizer's state of the version before.
bool keeps_previous_state(const RunConfig& config) {
  const Workload workload = make_workload(config);
  return shard_options(config, workload, server_options(config, workload, 0, 0))
      .keep_previous_state;
}

RunConfig of_two_chunks() {
  RunConfig config = synthetic();
  config.data.synthetic.width = 20'000;
  return config;
}

TEST(ServerOptions, ServersThatMayStopAStepApartKeepTheStateBefore) {
  RunConfig config = synthetic();
  config.servers = 2;
  EXPECT_TRUE(keeps_previous_state(config));
  config.clip = 1;  // decided together, but applied by each in its time
  EXPECT_TRUE(keeps_previous_state(config));
}

TEST(ServerOptions, ChunksThatMayStopAStepApartDoToo) {
  RunConfig config = of_two_chunks();
  ASSERT_EQ(make_workload(config).chunks.chunks(), 2U);
  EXPECT_TRUE(keeps_previous_state(config));
  config.clip = 1;  // all at once
  EXPECT_FALSE(keeps_previous_state(config));
}

TEST(ServerOptions, WhatNeverGoesBackIsUpdatedInPlace) {
  ASSERT_EQ(make_workload(synthetic()).chunks.chunks(), 1U);
  EXPECT_FALSE(keeps_previous_state(synthetic()));
  for (const Mode mode : {Mode::kAsync, Mode::kSsp}) {
    RunConfig config = of_two_chunks();
    config.servers = 2;
    config.mode = mode;
    EXPECT_FALSE(keeps_previous_state(config));
  }
}

TEST(ServerOptions, EachServerHasItsOwnChunks) {
  RunConfig config = synthetic();
  config.servers = 3;
  const Workload workload = make_workload(config);
  for (std::uint32_t index = 0; index < 3; ++index) {
    const ServerCore::Options options = server_options(config, workload, index, 20);
    EXPECT_EQ(options.chunks, workload.chunks.chunks_of(index));
    EXPECT_EQ(options.servers, 3U);
    EXPECT_EQ(options.version, 20U);
    EXPECT_EQ(options.last_version, workload.last_version);
  }
}

}  // namespace
}  // namespace paceline

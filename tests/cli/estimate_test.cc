#include "cli/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli_testing.h"

namespace paceline {
namespace {

using testing::HasSubstr;

RunConfig rows_config() {
  RunConfig config;
  config.data.name = "rows";
  config.data.rows.format.bits = 11;
  config.model.name = "logistic";
  return config;
}

TEST(Estimate, TheTableOfRowsIsKnownWithoutThem) {
  RunConfig config = rows_config();
  for (const ExchangeKind exchange :
       {ExchangeKind::kLocal, ExchangeKind::kPs, ExchangeKind::kAllReduce}) {
    config.exchange = exchange;
    const auto estimate = estimate_run(config);
    EXPECT_EQ(estimate["parameters"], 2049);
    EXPECT_EQ(estimate["tensors"][0]["bytes"], 4 * 2049);
    EXPECT_GT(estimate["memory_bytes"], 0);
    EXPECT_THAT(estimate["unknown"], HasSubstr("--data-file"));
    for (const char* key : {"examples", "steps", "steps_per_epoch", "tiles_per_step"}) {
      EXPECT_FALSE(estimate.contains(key)) << key;
    }
  }
}

}  // namespace
}  // namespace paceline

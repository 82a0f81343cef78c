#include "cli/estimate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/testing.h"

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

// Two workers have 8 of 16 rows each; of these all have key 7, the constant, and one of their own.
class RowEstimate : public testing::Test {
 protected:
  RowEstimate() {
    std::string text;
    for (int i = 0; i < 16; ++i) text += fmt::format("{} 7:1 {}:1\n", i % 2, 100 + i);
    config_.data.text.file = folder_.write("train.svm", text);
    config_.data.text.test_file = config_.data.text.file;
    config_.data.rows.cache_dir = folder_.path() / "cache";
    config_.data.rows.format.format = RowFormat::kLibsvm;
    config_.batch = 16;
    config_.tile = 1;
  }

  TestFolder folder_;
  RunConfig config_ = rows_config();
};

TEST_F(RowEstimate, CountsTheRowsThatAShareTouches) {
  const auto sync = estimate_run(config_);
  EXPECT_EQ(sync["step_rows_per_worker"], 10);
  EXPECT_NEAR(sync["step_bytes_per_worker"].get<double>(), 10 * 9.5, 10);
  EXPECT_THAT(sync["step_bytes_are"], HasSubstr("an estimate"));
  EXPECT_EQ(sync["tensors"][0]["as"], "rows");
  config_.mode = Mode::kAsync;  // a step is one worker's
  EXPECT_EQ(estimate_run(config_)["step_rows_per_worker"], 18);
}

TEST_F(RowEstimate, CountsAllOfTheTableWhenAllOfItTravels) {
  config_.transfer = Transfer::kDense;
  const auto dense = estimate_run(config_);
  EXPECT_EQ(dense["step_bytes_per_worker"], 2 * 4 * 2049);
  EXPECT_FALSE(dense.contains("step_rows_per_worker"));
  EXPECT_FALSE(dense["tensors"][0].contains("as"));
}

TEST(Estimate, WithoutDataItSaysWhatARowCosts) {
  const auto estimate = estimate_run(rows_config());
  EXPECT_THAT(estimate["step_bytes_are"], HasSubstr("about 9.5 for each row"));
  EXPECT_FALSE(estimate.contains("step_bytes_per_worker"));
  EXPECT_THAT(estimate["memory_bytes_are"], HasSubstr("an upper bound"));
  RunConfig config = rows_config();
  config.deterministic = true;  // gradients travel by parts of a sum
  config.workers = 3;
  config.batch = 128;
  EXPECT_THAT(estimate_run(config)["step_bytes_are"], testing::Not(HasSubstr("about 9.5")));
}

}  // namespace
}  // namespace paceline

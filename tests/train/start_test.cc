#include "train/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "train/synthetic_config.h"
#include "train/workload.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class StartTest : public testing::Test {
 protected:
  StartTest() {
    config_ = synthetic();
    config_.run_dir = dir_ / "run";
    config_.init = dir_ / "other";
    std::filesystem::create_directories(config_.run_dir / "checkpoints");
    write_atomically(config_.run_dir / "config.toml", "schema = 1\n");
  }
  // A run of softmax regression with values 0, 1, 2, …
  void write_other(const Layout& layout) { write_run(dir_ / "other", layout, 0); }
  static void write_run(const std::filesystem::path& run, const Layout& layout, float first) {
    CheckpointInfo info;
    info.layout = layout;
    info.model = "softmax";
    info.optimizer = "sgd";
    info.version = 3;
    write_checkpoint(checkpoint_path(run, 3), info,
                     [&](std::uint64_t, Range floats, std::span<float> out) {
                       for (std::uint64_t i = 0; i < floats.size(); ++i) {
                         out[i] = first + static_cast<float>(floats.begin + i);
                       }
                     });
  }
  std::vector<float> loaded(const Model& model) const {
    std::vector<float> values(model.layout().size, -1.0f);
    load_start(config_, model, values);
    return values;
  }

  // Returns the tensors that start anew.
  std::vector<std::string> start(const Model& model) {
    const Start start = make_start(config_, model);
    write_start(config_, start, model);
    return start.anew;
  }

  TempDir dir_;
  RunConfig config_;
};

TEST_F(StartTest, WithoutAnotherRunTheSeedDecides) {
  config_.init.clear();
  const auto model = make_workload(config_).model;
  EXPECT_FALSE(has_start(config_.run_dir / "checkpoints"));
  EXPECT_EQ(loaded(*model), std::vector<float>(model->layout().size));  // softmax: zeros
}

TEST_F(StartTest, TakesTheValuesOfTheOtherRunAndKeepsThem) {
  const auto model = make_workload(config_).model;
  write_other(model->layout());
  EXPECT_TRUE(start(*model).empty());
  std::filesystem::remove_all(dir_ / "other");
  const std::vector<float> values = loaded(*model);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
  EXPECT_TRUE(list_checkpoints(config_.run_dir).empty());  // it is none of the run's own
}

TEST_F(StartTest, TensorsOfAnotherShapeStartAnew) {
  const auto model = make_workload(config_).model;
  Layout layout = model->layout();  // weight [10, 100], bias [10]
  layout.tensors[0].shape = {20, 50};
  write_other(layout);
  EXPECT_THAT(start(*model), ElementsAre("softmax.weight"));
  const std::vector<float> values = loaded(*model);
  EXPECT_EQ(values[5], 0);
  EXPECT_EQ(values[1003], 1003);
}

TEST_F(StartTest, WeightsAreTheLearnedTensorsAndThenThoseOfTheStart) {
  const auto model = make_workload(config_).model;
  write_other(model->layout());
  start(*model);
  Layout learned = model->layout();  // as if the weight, [10, 100], were frozen
  learned.tensors.erase(learned.tensors.begin());
  learned.tensors[0].floats = {0, 10};
  learned.size = 10;
  write_run(config_.run_dir, learned, 5000);
  const Weights weights = read_weights(checkpoint_path(config_.run_dir, 3));
  ASSERT_EQ(weights.layout.tensors.size(), 2U);
  EXPECT_EQ(weights.layout.tensors[0].name, "softmax.bias");
  EXPECT_EQ(weights.layout.tensors[1].name, "softmax.weight");
  EXPECT_EQ(weights.layout.tensors[1].floats, (Range{10, 1010}));
  EXPECT_EQ(weights.layout.size, 1010U);
  EXPECT_EQ(weights.values[3], 5003);
  EXPECT_EQ(weights.values[10 + 7], 7);
}

TEST_F(StartTest, ARunWithNothingInCommonIsRefused) {
  const auto model = make_workload(config_).model;
  Layout layout = model->layout();
  for (Tensor& tensor : layout.tensors) tensor.name = "other." + tensor.name;
  write_other(layout);
  try {
    make_start(config_, *model);
    FAIL() << "nothing fits";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of the tensors of softmax"));
  }
  config_.init = dir_ / "nowhere";
  EXPECT_THROW(make_start(config_, *model), DataError);
}

}  // namespace
}  // namespace paceline

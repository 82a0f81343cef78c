#include "train/run_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "config/recipe.h"
#include "train/role.h"
#include "train/synthetic_config.h"

namespace paceline {
namespace {

using testing::HasSubstr;

class RunSpecTest : public testing::Test {
 protected:
  RunSpecTest() {
    config_ = synthetic();
    config_.run_dir = dir_ / "run";
    std::filesystem::create_directories(config_.run_dir / "checkpoints");
  }
  RunSpec make() const { return make_run_spec(config_, make_workload(config_).data); }

  TempDir dir_;
  RunConfig config_;
};

TEST_F(RunSpecTest, ArrivesAsItWasMade) {
  const RunSpec spec = make();
  const RunSpec read = decode_spec(encode_spec(spec));
  EXPECT_EQ(config_toml(read.config), config_toml(config_));
  EXPECT_EQ(read.config_text, spec.config_text);
  EXPECT_EQ(read.digest, spec.digest);
  EXPECT_EQ(read.id, spec.id);
  EXPECT_EQ(encode_spec(read).SerializeAsString(), encode_spec(spec).SerializeAsString());
}

TEST_F(RunSpecTest, SaysAllThatAModelMustKnowOfTheData) {
  DatasetInfo data{"a/train", 7, 12, 5, 1000, {2, 3, 4}, {1, 6, 50}, 20};
  RunSpec spec = make();
  spec.data = data;
  const DatasetInfo read = decode_spec(encode_spec(spec)).data;
  EXPECT_EQ(read.name, data.name);
  EXPECT_EQ(read.examples, data.examples);
  EXPECT_EQ(read.width, data.width);
  EXPECT_EQ(read.classes, data.classes);
  EXPECT_EQ(read.memory_bytes, data.memory_bytes);
  EXPECT_EQ(read.image, data.image);
  EXPECT_EQ(read.text, data.text);
  EXPECT_EQ(read.row_bits, data.row_bits);
}

// The same model from what it says as from the data themselves.
TEST_F(RunSpecTest, MakesTheSameWorkloadWithoutTheData) {
  const Workload with = make_workload(config_);
  const Workload without = make_workload(make());
  EXPECT_EQ(without.model->layout().size, with.model->layout().size);
  EXPECT_EQ(without.last_version, with.last_version);
  EXPECT_EQ(without.grid.batch, with.grid.batch);
}

TEST_F(RunSpecTest, EveryStartIsAnother) {
  EXPECT_NE(make().id, make().id);
  EXPECT_EQ(make().digest, make().digest);
}

TEST_F(RunSpecTest, PathsMayDifferFromHostToHost) {
  const std::string digest = make().digest;
  config_.data.dir = "/elsewhere";
  config_.log_level = "debug";
  EXPECT_EQ(make().digest, digest);
  config_.batch += 1;
  EXPECT_NE(make().digest, digest);
}

TEST_F(RunSpecTest, AFileThatHasChangedSinceIsRefused) {
  write_atomically(config_.run_dir / "checkpoints" / "start.ckpt", "what it starts from");
  const RunSpec spec = make();
  ASSERT_EQ(spec.files.size(), 1U);
  check_files(spec);
  write_atomically(spec.files.front().path(), "what it ends with..");  // as long as before
  try {
    check_files(spec);
    FAIL() << "it was not noticed";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("start.ckpt is not what it was when the run began"));
  }
}

TEST_F(RunSpecTest, ARoleReadsWhatItIs) {
  const RunSpec spec = make();
  wire::RoleSpec message;
  *message.mutable_run() = encode_spec(spec);
  message.set_role("server");
  message.set_name("server1");
  message.set_chief("unix:/tmp/chief.sock");
  message.set_listen("10.0.0.7");
  const RoleContext role = read_role(message.SerializeAsString());
  EXPECT_EQ(role.name, "server1");
  EXPECT_EQ(role.role, "server");
  EXPECT_EQ(role.chief, "unix:/tmp/chief.sock");
  EXPECT_EQ(role.config.listen, "10.0.0.7");
  EXPECT_EQ(role.id, spec.id);
  message.set_role("boss");
  EXPECT_THROW(run_role(read_role(message.SerializeAsString())), ConfigError);
  EXPECT_THROW(read_role("nonsense"), DataError);
}

}  // namespace
}  // namespace paceline

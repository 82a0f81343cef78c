#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "cli/command_line.h"
#include "cli/recipe.h"
#include "cli/settings.h"
#include "cli_testing.h"

namespace paceline {
namespace {

using testing::HasSubstr;

// Commands run on actions that do nothing but show that they were called.
class Commands : public testing::Test {
 protected:
  Commands() {
    environment_.recipes = {PACELINE_SOURCE_DIR "recipes"};
    environment_.cache_dir = folder_.path() / "cache";
  }

  std::string output_of(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    run_command(parse_command_line(words, environment_), {environment_, actions_, out, err});
    return out.str();
  }

  TestFolder folder_;
  Environment environment_;
  Actions actions_;
};

TEST_F(Commands, TrainRunsTheConfigurationAndShowsItsReports) {
  actions_.train = [](const RunConfig& config, Reporter& reporter) {
    reporter.notice("batch " + std::to_string(config.batch));
  };
  EXPECT_EQ(output_of({"train", "mnist", "--batch", "7"}), "batch 7\n");
  EXPECT_EQ(output_of({"train", "mnist", "--batch", "7", "--quiet"}), "");
  EXPECT_EQ(nlohmann::json::parse(output_of({"train", "mnist", "--batch", "7", "--json"})),
            (nlohmann::json{{"type", "notice"}, {"text", "batch 7"}}));
}

TEST_F(Commands, ADryRunShowsTheConfigurationAndStartsNothing) {
  actions_.estimate = [](const RunConfig&) { return nlohmann::json{{"memory_bytes", 2000000U}}; };
  const std::string text = output_of({"train", "mnist", "--dry-run", "--batch", "7"});
  EXPECT_THAT(text, HasSubstr("\nbatch = 7\n"));
  EXPECT_THAT(text, HasSubstr("memory bytes  2.00 MB"));
  const auto object = nlohmann::json::parse(output_of({"train", "mnist", "--dry-run", "--json"}));
  EXPECT_EQ(object["estimate"]["memory_bytes"], 2000000U);
}

TEST_F(Commands, EvaluateShowsTheResult) {
  actions_.evaluate = [](const EvaluateOptions& options) {
    return Evaluation{options.target.string(), "mnist/test", 10'000, 0.25, 0.9193};
  };
  EXPECT_THAT(output_of({"evaluate", "runs/a"}), HasSubstr("accuracy       91.93 %"));
  const auto object = nlohmann::json::parse(output_of({"evaluate", "runs/a", "--json"}));
  EXPECT_EQ(object["accuracy"], 0.9193);
  EXPECT_EQ(object["checkpoint"], "runs/a");
}

TEST_F(Commands, PredictWritesOneLinePerExample) {
  actions_.predict = [](const PredictOptions&) {
    return Predictions{3, {0.25F, 0.5F, 0.25F, 0.75F, 0.125F, 0.125F}};
  };
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i"}), "1\n0\n");
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i", "--probabilities"}),
            "1\t0.25\t0.5\t0.25\n0\t0.75\t0.125\t0.125\n");
  const std::string file = (folder_.path() / "labels").string();
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i", "--output", file}), "");
  EXPECT_EQ(read_text(file), "1\n0\n");
}

TEST_F(Commands, InspectShowsARecipeWithAllItsSettings) {
  actions_.estimate = [](const RunConfig&) { return nlohmann::json{{"parameters", 7850U}}; };
  const std::string text = output_of({"inspect", "mnist"});
  EXPECT_THAT(text, HasSubstr("rate = 0.5\n"));
  EXPECT_THAT(text, HasSubstr("7,850"));
  EXPECT_THAT(text, HasSubstr("member-timeout = \"10s\"\n"));
  const auto object = nlohmann::json::parse(output_of({"inspect", "mnist", "--json"}));
  EXPECT_EQ(object["config"]["rate"], "0.5");
}

TEST_F(Commands, InspectShowsARun) {
  actions_.checkpoints = [](const std::filesystem::path&) {
    return nlohmann::json::array({{{"name", "step-600"}, {"epoch", 1U}}});
  };
  actions_.estimate = [](const RunConfig&) -> nlohmann::json {
    throw DataError("the data is not here");
  };
  folder_.write("run/config.toml", config_toml(RunConfig{}));
  const std::string run = (folder_.path() / "run").string();
  EXPECT_THAT(output_of({"inspect", run}), HasSubstr("the run has not come to its end"));
  folder_.write("run/summary.json", R"({"test_accuracy": 0.92, "workers": 2})");
  const std::string text = output_of({"inspect", run});
  EXPECT_THAT(text, HasSubstr("test accuracy  92.00 %"));
  EXPECT_THAT(text, HasSubstr("step-600"));
  EXPECT_THAT(text, HasSubstr("the data is not here"));
  const auto object = nlohmann::json::parse(output_of({"inspect", run, "--json"}));
  EXPECT_EQ(object["summary"]["workers"], 2);
  EXPECT_EQ(object["checkpoints"][0]["name"], "step-600");
}

TEST_F(Commands, InspectRefusesFoldersThatAreNoRunAndDamagedSummaries) {
  actions_.checkpoints = [](const std::filesystem::path&) { return nlohmann::json::array(); };
  const std::string folder = folder_.path().string();
  EXPECT_EQ(message_of<DataError>([&] {
              output_of({"inspect", folder});
            }),
            folder + " is not a run directory: it has no config.toml");
  folder_.write("config.toml", config_toml(RunConfig{}));
  folder_.write("summary.json", "{ half");
  EXPECT_EQ(message_of<DataError>([&] {
              output_of({"inspect", folder});
            }),
            folder + "/summary.json is damaged: it is not JSON");
}

TEST_F(Commands, DataListSaysWhatIsThere) {
  const std::string text = output_of({"data", "list"});
  EXPECT_THAT(text, HasSubstr("mnist"));
  EXPECT_THAT(text, HasSubstr("not here"));
  const auto object = nlohmann::json::parse(output_of({"data", "list", "--json"}));
  EXPECT_EQ(object["datasets"].size(), 2U);
  EXPECT_EQ(object["datasets"][0]["here"], false);
}

TEST_F(Commands, DataGetRefusesUnknownNamesBeforeItFetches) {
  EXPECT_THAT(message_of<ConfigError>([&] {
                output_of({"data", "get", "mnist", "minst"});
              }),
              HasSubstr("minst"));
  EXPECT_FALSE(std::filesystem::exists(environment_.cache_dir));
}

TEST_F(Commands, SettingsListsThemAll) {
  const std::string text = output_of({"settings"});
  for (const std::string& key : flag_keys()) EXPECT_THAT(text, HasSubstr(key + " = "));
  EXPECT_EQ(output_of({"settings", "--markdown"}), settings_markdown());
}

TEST_F(Commands, BenchAndRoleReachTheirActions) {
  actions_.bench = [](const BenchOptions& options, std::ostream& out) { out << options.names[0]; };
  EXPECT_EQ(output_of({"bench", "softmax.batch10"}), "softmax.batch10");
  std::string ran;
  actions_.role = [&](const RoleOptions& options) { ran = options.name; };
  const std::string file = folder_.write("config.toml", config_toml(RunConfig{})).string();
  output_of({"role", "chief", "--config", file, "--name", "chief"});
  EXPECT_EQ(ran, "chief");
}

}  // namespace
}  // namespace paceline

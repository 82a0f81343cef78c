// What a run leaves behind, and what reads it.
#include <fmt/format.h>

#include <memory>

#include "system/run_fixture.h"

namespace paceline {
namespace {

using Train = SyntheticRun;

TEST_F(Train, LeavesARunDirectoryWithEverythingInIt) {
  run("run", {"--workers", "2", "--servers", "2"});
  const auto summary = this->summary("run");
  EXPECT_EQ(summary["status"], "complete");
  EXPECT_EQ(summary["examples"], 3 * 997);
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["servers"], 2);
  EXPECT_GT(summary["test_accuracy"], 0.5);
  EXPECT_GT(summary["train_seconds"], 0);
  EXPECT_GT(summary["examples_per_second"], 0);
  std::size_t examples = 0;
  for (const auto& role : summary["roles"]) {
    EXPECT_GT(role["cpu_seconds"], 0) << role;
    EXPECT_GT(role["peak_rss_bytes"], 1'000'000) << role;
    if (role["role"] == "server") {
      EXPECT_GT(role["bytes_in"], 10'000) << role;
      EXPECT_GT(role["bytes_out"], 10'000) << role;
    }
    if (role["role"] != "worker") continue;
    examples += role["examples"].get<std::size_t>();
    EXPECT_GT(role["finish_seconds"], 0) << role;
    EXPECT_EQ(role["epochs"].size(), 3U) << role;
  }
  EXPECT_EQ(examples, 3U * 997U);
  for (const char* name : {"config.toml", "metrics.jsonl", "logs/chief.log", "logs/server1.log",
                           "logs/worker0.log", "logs/evaluator0.log"}) {
    EXPECT_TRUE(std::filesystem::exists(path("run") / name)) << name;
  }
}

// In the same second they would all choose the same name.
TEST_F(Train, RunsThatStartAtOnceHaveDirectoriesOfTheirOwn) {
  const std::string there = fmt::format("cd '{}' && exec \"$0\" \"$@\"", dir_.path().string());
  std::vector<std::unique_ptr<PacelineProcess>> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(std::make_unique<PacelineProcess>(
        dir_.path(),
        Arguments{"train", "synthetic", "--exchange", "local", "--workers", "1", "--epochs", "1",
                  "--synthetic-examples", "100", "--synthetic-test-examples", "10"},
        Arguments{"sh", "-c", there}));
  }
  for (const auto& run : runs) EXPECT_EQ(run->wait(), 0) << run->output();
  std::size_t complete = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("runs"))) {
    const std::filesystem::path& dir = entry.path();
    EXPECT_EQ(summary_of(dir)["status"], "complete") << dir;
    EXPECT_EQ(std::filesystem::path(summary_of(dir)["run_dir"].get<std::string>()).filename(),
              dir.filename());
    ++complete;
  }
  EXPECT_EQ(complete, runs.size());
}

TEST_F(Train, AsynchronousModesCoverEveryExample) {
  for (const std::string mode : {"async", "ssp"}) {
    run(mode, {"--mode", mode, "--workers", "3", "--servers", "2", "--epochs", "20"});
    const auto summary = this->summary(mode);
    EXPECT_EQ(summary["examples"], 20 * 997) << mode;
    EXPECT_GT(summary["test_accuracy"], 0.8) << mode;
    for (const auto& role : summary["roles"]) {
      if (role["role"] == "worker" && role["examples"] > 0) {
        ASSERT_FALSE(role["epochs"].empty()) << role;
        EXPECT_EQ(role["epochs"].back()["epoch"], 20) << role;
      }
    }
  }
  run("local", {"--mode", "async", "--exchange", "local", "--workers", "3", "--epochs", "20"});
  EXPECT_EQ(summary("local")["examples"], 20 * 997);
  EXPECT_GT(summary("local")["test_accuracy"], 0.8);
}

TEST_F(Train, StepsThatAreNotFiniteAreSkippedAndCounted) {
  for (const Arguments& way : {Arguments{}, {"--mode", "async"}, {"--exchange", "local"}}) {
    Arguments arguments = {"--rate", "1e38", "--nonfinite", "skip"};
    arguments.insert(arguments.end(), way.begin(), way.end());
    const std::string name = "run" + std::to_string(way.size()) + (way.empty() ? "" : way[0]);
    run(name, arguments);
    EXPECT_EQ(summary(name)["status"], "complete");
    EXPECT_GT(summary(name)["steps_skipped"], 0);
  }
}

TEST_F(Train, TcpCarriesARunToo) {
  run("tcp", {"--transport", "tcp"});
  EXPECT_EQ(summary("tcp")["examples"], 3 * 997);
}

TEST_F(Train, SixteenBitsOnTheWireAreHalfTheBytesAndLearnAsWell) {
  for (const std::string mode : {"sync", "async"}) {
    const auto bytes_in = [&](const std::string& name) {
      const nlohmann::json found = summary(name);
      for (const auto& role : found["roles"]) {
        if (role["name"] == "server0") return role["bytes_in"].get<double>();
      }
      return 0.0;
    };
    run(mode, {"--mode", mode});
    run("half-" + mode, {"--mode", mode, "--wire", "bf16"});
    EXPECT_LT(bytes_in("half-" + mode), 0.6 * bytes_in(mode));
    EXPECT_EQ(summary("half-" + mode)["examples"], 3 * 997);
  }
  EXPECT_NEAR(summary("half-sync")["train_loss"].get<double>(),
              summary("sync")["train_loss"].get<double>(), 0.01);
}

TEST_F(Train, EvaluateAndInspectReadARun) {
  run("run", {});
  const std::string run_dir = path("run").string();
  const Result evaluated = paceline({"evaluate", run_dir, "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.output;
  const auto result = nlohmann::json::parse(evaluated.output);
  EXPECT_DOUBLE_EQ(result["accuracy"], summary("run")["test_accuracy"]);

  const Result inspected = paceline({"inspect", run_dir});
  EXPECT_EQ(inspected.code, 0) << inspected.output;
  EXPECT_NE(inspected.output.find("softmax.weight"), std::string::npos) << inspected.output;
}

}  // namespace
}  // namespace paceline

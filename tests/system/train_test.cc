// Whole runs with real processes on generated data.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/temp_dir.h"
#include "system/paceline_process.h"

namespace paceline {
namespace {

using Arguments = std::vector<std::string>;

// 997 examples in batches of 100: neither divides by the workers, tiles or servers.
Arguments train(const std::filesystem::path& run_dir, const Arguments& more) {
  Arguments arguments = {"train",     "synthetic",
                         "--run-dir", run_dir.string(),
                         "--quiet",   "--synthetic-examples",
                         "997",       "--synthetic-test-examples",
                         "200",       "--synthetic-width",
                         "61",        "--batch",
                         "100",       "--epochs",
                         "3",         "--rate",
                         "0.2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class Train : public ::testing::Test {
 protected:
  void run(const std::string& name, const Arguments& more) {
    const Result result = paceline(dir_.path(), train(dir_.path() / name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
  }
  std::vector<float> parameters(const std::string& name) {
    return final_parameters(dir_.path() / name);
  }
  // Largest difference, relative to the largest parameter.
  static double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0;
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(a[i])));
      most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    return most / largest;
  }
  TempDir dir_;
};

TEST_F(Train, LeavesARunDirectoryWithEverythingInIt) {
  run("run", {"--workers", "2", "--servers", "2"});
  const auto summary = summary_of(dir_.path() / "run");
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
    EXPECT_TRUE(std::filesystem::exists(dir_.path() / "run" / name)) << name;
  }
}

struct Layout {
  int workers;
  int servers;
};

TEST_F(Train, SynchronousRunsEndWithTheWeightsOfOneProcess) {
  run("one", {"--exchange", "local", "--workers", "1"});
  const auto expected = parameters("one");
  for (const int workers : {2, 3, 5}) {
    const std::string name = "local" + std::to_string(workers);
    run(name, {"--exchange", "local", "--workers", std::to_string(workers)});
    EXPECT_LT(difference(expected, parameters(name)), 2e-5) << name;
  }
  for (const Layout layout : {Layout{1, 1}, {2, 1}, {3, 2}, {5, 3}, {2, 3}}) {
    const std::string name =
        "ps" + std::to_string(layout.workers) + "x" + std::to_string(layout.servers);
    run(name,
        {"--workers", std::to_string(layout.workers), "--servers", std::to_string(layout.servers)});
    EXPECT_LT(difference(expected, parameters(name)), 2e-5) << name;
  }
}

TEST_F(Train, DeterministicRunsHaveTheSameBitsUnderAnyCut) {
  const Arguments common = {"--deterministic", "--optimizer", "momentum", "--rate", "0.05"};
  const auto with = [&](Arguments more) {
    more.insert(more.end(), common.begin(), common.end());
    return more;
  };
  run("one", with({"--exchange", "local", "--workers", "1"}));
  const auto expected = parameters("one");
  run("local3", with({"--exchange", "local", "--workers", "3"}));
  EXPECT_EQ(expected, parameters("local3"));
  for (const Layout layout : {Layout{1, 1}, {2, 1}, {3, 2}, {5, 3}}) {
    const std::string name =
        "ps" + std::to_string(layout.workers) + "x" + std::to_string(layout.servers);
    run(name, with({"--workers", std::to_string(layout.workers), "--servers",
                    std::to_string(layout.servers)}));
    EXPECT_EQ(expected, parameters(name)) << name;
  }
}

TEST_F(Train, AsynchronousModesCoverEveryExample) {
  for (const std::string mode : {"async", "ssp"}) {
    run(mode, {"--mode", mode, "--workers", "3", "--servers", "2", "--epochs", "20"});
    const auto summary = summary_of(dir_.path() / mode);
    EXPECT_EQ(summary["examples"], 20 * 997) << mode;
    EXPECT_GT(summary["test_accuracy"], 0.8) << mode;
    for (const auto& role : summary["roles"]) {
      if (role["role"] == "worker" && role["examples"] > 0) {
        EXPECT_FALSE(role["epochs"].empty()) << role;
      }
    }
  }
  run("local", {"--mode", "async", "--exchange", "local", "--workers", "3", "--epochs", "20"});
  EXPECT_EQ(summary_of(dir_.path() / "local")["examples"], 20 * 997);
  EXPECT_GT(summary_of(dir_.path() / "local")["test_accuracy"], 0.8);
}

TEST_F(Train, TcpCarriesARunToo) {
  run("tcp", {"--transport", "tcp"});
  EXPECT_EQ(summary_of(dir_.path() / "tcp")["examples"], 3 * 997);
}

// Long enough to be hit in the middle: the epochs are many and short.
class FaultRun : public Train {
 protected:
  static Arguments longer(const Arguments& more) {
    Arguments arguments = {"--epochs", "3000", "--checkpoint-every", "500"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static bool has_begun(const std::filesystem::path& run_dir) {
    return eventually(20, [&] {
      std::ifstream in(run_dir / "metrics.jsonl");
      std::string line;
      return static_cast<bool>(std::getline(in, line));
    });
  }
};

class Faults : public FaultRun, public ::testing::WithParamInterface<const char*> {};

TEST_P(Faults, AKilledWorkerIsReplacedAndEveryExampleIsCovered) {
  const auto run_dir = dir_.path() / "run";
  PacelineProcess process(
      dir_.path(),
      train(run_dir, longer({"--workers", "3", "--servers", "2", "--mode", GetParam()})));
  ASSERT_TRUE(has_begun(run_dir));
  const auto workers = process.roles("worker1", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGKILL);
  EXPECT_EQ(process.wait(), 0) << process.output();
  const auto summary = summary_of(run_dir);
  EXPECT_EQ(summary["status"], "complete");
  EXPECT_EQ(summary["examples"], 3000 * 997);
  EXPECT_EQ(summary["epochs"], 3000);
  EXPECT_NE(read_text(run_dir / "logs" / "chief.log").find("worker1 is lost"), std::string::npos);
}

TEST_P(Faults, AStoppedWorkerCountsAsDeadAfterItsTimeout) {
  const auto run_dir = dir_.path() / "run";
  PacelineProcess process(
      dir_.path(), train(run_dir, longer({"--workers", "3", "--mode", GetParam(), "--heartbeat",
                                          "50ms", "--member-timeout", "500ms"})));
  ASSERT_TRUE(has_begun(run_dir));
  const auto workers = process.roles("worker2", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary_of(run_dir)["examples"], 3000 * 997);
  EXPECT_FALSE(alive(workers[0]));
}

INSTANTIATE_TEST_SUITE_P(Modes, Faults, ::testing::Values("sync", "async", "ssp"));

TEST_F(FaultRun, AKilledLauncherLeavesNoOrphan) {
  const auto run_dir = dir_.path() / "run";
  PacelineProcess process(dir_.path(), train(run_dir, longer({"--workers", "2"})));
  ASSERT_TRUE(has_begun(run_dir));
  const auto roles = process.roles("", 5);
  ASSERT_EQ(roles.size(), 5U);
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait(), -SIGKILL);
  for (const pid_t role : roles) {
    EXPECT_TRUE(eventually(2, [&] { return !alive(role); })) << role;
  }
}

TEST_F(FaultRun, AKilledServerEndsTheRunWithAWord) {
  const auto run_dir = dir_.path() / "run";
  PacelineProcess process(dir_.path(), train(run_dir, longer({"--workers", "2"})));
  ASSERT_TRUE(has_begun(run_dir));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGKILL);
  EXPECT_NE(process.wait(), 0);
  EXPECT_NE(process.output().find("server0 is lost"), std::string::npos) << process.output();
  EXPECT_NE(process.output().find("--resume"), std::string::npos) << process.output();
}

TEST_P(Faults, CtrlCSavesAndResumeEndsLikeARunThatWasNeverStopped) {
  const bool sync = std::string(GetParam()) == "sync";
  Arguments options = longer({"--mode", GetParam()});
  if (sync) options.insert(options.end(), {"--deterministic", "--epochs", "1500"});
  const auto run_dir = dir_.path() / "first";
  PacelineProcess process(dir_.path(), train(run_dir, options));
  ASSERT_TRUE(has_begun(run_dir));
  const auto roles = process.roles("", 5);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_NE(process.output().find("--resume"), std::string::npos) << process.output();
  for (const pid_t role : roles) EXPECT_FALSE(alive(role));
  EXPECT_EQ(summary_of(run_dir)["status"], "incomplete");

  // With another number of workers and servers.
  const auto second = dir_.path() / "second";
  const Result resumed =
      paceline(dir_.path(), {"train", "--resume", run_dir.string(), "--run-dir", second.string(),
                             "--quiet", "--workers", "3", "--servers", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  const std::uint64_t epochs = sync ? 1500 : 3000;
  EXPECT_EQ(summary_of(second)["examples_total"], epochs * 997);
  if (!sync) return;
  const auto whole = dir_.path() / "whole";
  const Result uninterrupted = paceline(dir_.path(), train(whole, options));
  ASSERT_EQ(uninterrupted.code, 0) << uninterrupted.output;
  EXPECT_EQ(final_parameters(second), final_parameters(whole));
}

// ---- bad input -------------------------------------------------------------------------

struct BadRun {
  const char* name;
  Arguments arguments;
  int code;
  const char* says;
};

class BadInput : public Train, public ::testing::WithParamInterface<BadRun> {};

TEST_P(BadInput, EndsWithASentenceAndItsCode) {
  const BadRun& bad = GetParam();
  const Result result = paceline(dir_.path(), train(dir_.path() / "run", bad.arguments));
  EXPECT_EQ(result.code, bad.code) << result.output;
  EXPECT_NE(result.output.find(bad.says), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(
    System, BadInput,
    ::testing::Values(
        BadRun{"UnknownFlag", {"--batcch", "3"}, 2, "--batch"},
        BadRun{"BadValue", {"--epochs", "0"}, 2, "epochs"},
        BadRun{"NoSuchDirectory", {"--run-dir", "/dev/null/run"}, 3, "/dev/null/run"},
        BadRun{"TooLittleMemory", {"--memory-limit", "1M"}, 5, "available"},
        BadRun{"NotLoopback", {"--transport", "tcp", "--listen", "0.0.0.0"}, 2, "--insecure"},
        BadRun{"NotFinite", {"--rate", "1e38"}, 1, "not finite"}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST_F(Train, APortInUseIsNamed) {
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Result result =
      paceline(dir_.path(), train(dir_.path() / "run", {"--transport", "tcp", "--port", port}));
  EXPECT_EQ(result.code, 4) << result.output;
  EXPECT_NE(result.output.find(port), std::string::npos) << result.output;
  ::close(taken);
}

TEST_F(Train, ARunDirectoryIsNotOverwritten) {
  run("run", {"--epochs", "1"});
  const Result again = paceline(dir_.path(), train(dir_.path() / "run", {}));
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.output.find("already has a run"), std::string::npos) << again.output;
}

TEST_F(Train, CorruptDataIsNamed) {
  const auto data = dir_.path() / "data";
  std::filesystem::create_directories(data);
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
    std::ofstream(data / name) << "this is not an IDX file";
  }
  const Result result =
      paceline(dir_.path(), {"train", "mnist", "--data", "idx", "--data-dir", data.string(),
                             "--run-dir", (dir_.path() / "run").string()});
  EXPECT_EQ(result.code, 3) << result.output;
  EXPECT_NE(result.output.find("train-images-idx3-ubyte"), std::string::npos) << result.output;
}

TEST_F(Train, ResumingNothingIsNamed) {
  const Result result = paceline(dir_.path(), {"train", "--resume", "/dev/null/none"});
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_NE(result.output.find("/dev/null/none"), std::string::npos) << result.output;
}

TEST_F(Train, EvaluateAndInspectReadARun) {
  run("run", {});
  const std::string run_dir = (dir_.path() / "run").string();
  const Result evaluated = paceline(dir_.path(), {"evaluate", run_dir, "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.output;
  const auto result = nlohmann::json::parse(evaluated.output);
  EXPECT_DOUBLE_EQ(result["accuracy"], summary_of(run_dir)["test_accuracy"]);
  const Result inspected = paceline(dir_.path(), {"inspect", run_dir});
  EXPECT_EQ(inspected.code, 0) << inspected.output;
  EXPECT_NE(inspected.output.find("softmax.weight"), std::string::npos) << inspected.output;
}

}  // namespace
}  // namespace paceline

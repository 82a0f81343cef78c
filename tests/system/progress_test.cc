// Slow is not stuck: runs whose tests take longer than --deadline go on, and roles that hang are
// named and ended however regularly they beat.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <sstream>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr const char* kManyTests = "1000000";
constexpr const char* kLongEpoch = "500000";  // made up by every role before it begins
constexpr const char* kLongTest = "300000";   // of 100 classes
constexpr int kManyRows = 1'200'000;          // to test
#else
constexpr const char* kManyTests = "6000000";
constexpr const char* kLongEpoch = "5000000";
constexpr const char* kLongTest = "2000000";
constexpr int kManyRows = 6'000'000;
#endif

class Progress : public LongRun, public ::testing::WithParamInterface<const char*> {
 protected:
  bool says(const std::string& name, const std::string& role, const std::string& words) const {
    return eventually(60, [&] {
      const auto file = path(name) / "logs" / (role + ".log");
      return std::filesystem::exists(file) && read_text(file).find(words) != std::string::npos;
    });
  }
  // In milliseconds, by the times at which the evaluator says that it has tested: so many are due
  // that it begins with the next at once.
  static double longest_test(const std::string& log) {
    const std::regex tested("T(..):(..):([0-9.]+) .*: epoch [0-9]+: ");
    double longest = 0;
    std::optional<double> before;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      std::smatch at;
      if (!std::regex_search(line, at, tested)) continue;
      const double now =
          1000 * (3600 * std::stod(at[1]) + 60 * std::stod(at[2]) + std::stod(at[3]));
      if (before) longest = std::max(longest, now - *before);
      before = now;
    }
    return longest;
  }
};
INSTANTIATE_TEST_SUITE_P(Exchanges, Progress, ::testing::Values("ps", "allreduce"));

class LongTests : public Progress {
 protected:
  // "run", which these arguments start.
  void expect_tested(const Arguments& arguments, int epochs) const {
    const Result result = paceline(arguments);
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(summary("run")["epochs"], epochs);
    EXPECT_THAT(log("run", "chief"), Not(HasSubstr("is lost")));
    EXPECT_GT(longest_test(log("run", "evaluator0")), 500)
        << "no test was longer than the deadline";
  }
};
INSTANTIATE_TEST_SUITE_P(Exchanges, LongTests, ::testing::Values("ps", "async", "allreduce"));

// In sync mode so many epochs are untested that training must wait for their tests; in async mode
// workers test what they hold, too.
TEST_P(LongTests, ThatTakeLongerThanTheDeadlineHarmNobody) {
  const bool async = std::string(GetParam()) == "async";
  const int epochs = async ? 3 : 6;
  expect_tested(train("run", {"--exchange",
                              async ? "ps" : GetParam(),
                              "--mode",
                              async ? "async" : "sync",
                              "--epochs",
                              std::to_string(epochs),
                              "--synthetic-width",
                              "20",
                              "--synthetic-examples",
                              "100",
                              "--synthetic-test-examples",
                              kLongTest,
                              "--synthetic-classes",
                              "100",
                              "--deadline",
                              "500ms",
                              "--heartbeat",
                              "50ms",
                              "--checkpoint-every",
                              "1"}),
                epochs);
}

// Of a table the servers score the tests, a few at a time.
class LongTestsOfRows : public LongTests {
 protected:
  // The rows have one feature each, of a thousand.
  void write_rows(const std::string& name, int count) const {
    std::string thousand;
    for (int key = 1; key <= 1000; ++key) {
      thousand += (key % 2 == 0 ? "1 " : "-1 ") + std::to_string(key) + ":1\n";
    }
    std::ofstream file(path(name));
    for (int written = 0; written < count; written += 1000) file << thousand;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, LongTestsOfRows, ::testing::Values("sync", "async"));

TEST_P(LongTestsOfRows, ThatTakeLongerThanTheDeadlineHarmNobody) {
  write_rows("train.svm", 1000);
  write_rows("test.svm", kManyRows);
  // clang-format off
  const Arguments arguments = {
      "train", "clicks", "--run-dir", path("run").string(), "--quiet",
      "--data-file", path("train.svm").string(), "--test-file", path("test.svm").string(),
      "--cache-dir", path("cache").string(), "--bits", "11", "--batch", "100", "--epochs", "6",
      "--exchange", "ps", "--servers", "2", "--workers", "2", "--mode", GetParam(),
      "--deadline", "500ms", "--heartbeat", "50ms", "--checkpoint-every", "1"};
  // clang-format on
  expect_tested(arguments, 6);
}

TEST_P(Progress, LosingAnyWorkerDuringTheLastTestHarmsNobody) {
  for (const std::string lost : {"worker0", "worker1"}) {
    const std::string name = "run-" + lost;
    const bool ring = std::string(GetParam()) == "allreduce";
    Arguments arguments = train(name, {"--exchange", GetParam(), "--workers", "2", "--epochs", "2",
                                       "--synthetic-test-examples", kManyTests, "--synthetic-width",
                                       "20", "--optimizer", "sgd"});
    if (!ring) arguments.push_back("--deterministic");
    PacelineProcess process(dir_.path(), arguments);
    const auto workers = process.roles(lost, 1);
    ASSERT_EQ(workers.size(), 1U);
    ASSERT_TRUE(says(name, "chief", "epoch 2 is trained"));
    ::kill(workers[0], SIGKILL);
    EXPECT_EQ(process.wait(), 0) << process.output();
    EXPECT_EQ(summary(name)["status"], "complete");
    EXPECT_EQ(summary(name)["examples"], 2 * 997);
    EXPECT_EQ(summary(name)["epochs"], 2);
    EXPECT_TRUE(summary(name)["test_accuracy"].is_number());
    EXPECT_EQ(CheckpointReader(find_checkpoint(path(name))).info().epoch, 2U);
    expect_undisturbed(name, {"--epochs", "2", "--synthetic-width", "20", "--optimizer", "sgd"},
                       ring ? kRounding : 0);
  }
}

TEST_F(Progress, LosingAllWorkersDuringTheLastTestHarmsNobody) {
  PacelineProcess process(
      dir_.path(), train("run", {"--workers", "2", "--epochs", "2", "--synthetic-test-examples",
                                 kManyTests, "--synthetic-width", "20", "--deterministic"}));
  const auto workers = process.roles("worker", 2);
  ASSERT_EQ(workers.size(), 2U);
  ASSERT_TRUE(says("run", "chief", "epoch 2 is trained"));
  for (const pid_t worker : workers) ::kill(worker, SIGKILL);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary("run")["status"], "complete");
  expect_undisturbed("run", {"--epochs", "2", "--synthetic-width", "20"});
}

// Whoever tests has asked it for the last version, and would wait for ever.
TEST_F(Progress, AKeeperThatIsStoppedDuringTheLastTestsHarmsNobody) {
  PacelineProcess process(
      dir_.path(),
      train("run", {"--exchange", "allreduce", "--workers", "2", "--epochs", "2",
                    "--synthetic-test-examples", kManyTests, "--synthetic-width", "20",
                    "--optimizer", "sgd", "--member-timeout", "5s", "--heartbeat", "50ms"}));
  ASSERT_TRUE(says("run", "chief", "epoch 2 is trained"));
  const bool first = log("run", "chief").find("keeper in worker0 ") != std::string::npos;
  const auto keepers = process.roles(first ? "worker0" : "worker1", 1);
  ASSERT_EQ(keepers.size(), 1U);
  ::kill(keepers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary("run")["status"], "complete");
  EXPECT_TRUE(summary("run")["test_accuracy"].is_number());
  EXPECT_EQ(CheckpointReader(find_checkpoint(path("run"))).info().epoch, 2U);
}

// The chief hears it already.
TEST_F(Progress, AnAsynchronousWorkerThatHangsAsItOpensItsTestDataIsNamed) {
  PacelineProcess process(
      dir_.path(), train("run", {"--workers", "1", "--mode", "async", "--synthetic-test-examples",
                                 kManyTests, "--synthetic-width", "20", "--deadline", "2s",
                                 "--heartbeat", "50ms", "--member-timeout", "50s"}));
  ASSERT_TRUE(says("run", "worker0", "opens its test data"));
  const auto workers = process.roles("worker0", 1);
  ASSERT_EQ(workers.size(), 1U);
  {
    const HeldThread opening(workers[0]);
    EXPECT_TRUE(says("run", "chief", "worker0 is lost: no progress for"));
  }
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("while opening its test data"));
}

// However long it takes a worker to finish what it has begun, here one that is stopped meanwhile:
// servers end alike, and what was learned is saved.
TEST_F(Progress, CtrlCWaitsForAsynchronousWorkersAsLongAsTheyLive) {
  PacelineProcess process(dir_.path(), train("run", {"--workers", "2", "--servers", "2", "--mode",
                                                     "async", "--checkpoint-every", "0"}));
  ASSERT_TRUE(has_begun("run"));
  const auto workers = process.roles("worker0", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  process.signal(SIGINT);
  ASSERT_TRUE(says("run", "chief", "stopping: waiting for worker0"));
  ::kill(workers[0], SIGCONT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("--resume"));
  const Result resumed = paceline({"train", "--resume", path("run").string(), "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(summary("run")["examples_total"], kExamples);
}

// Each would test what it holds at the end of an epoch, and of the run.
TEST_F(Progress, CtrlCDoesNotWaitForAsynchronousWorkersToTest) {
  PacelineProcess process(
      dir_.path(), train("run", {"--workers", "2", "--mode", "async", "--epochs", "1",
                                 "--synthetic-examples", kLongEpoch, "--synthetic-width", "4"}));
  ASSERT_TRUE(has_begun("run"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_THAT(read_text(path("run") / "metrics.jsonl"), Not(HasSubstr("worker_epoch")));
  EXPECT_GT(CheckpointReader(find_checkpoint(path("run"))).info().version, 0U);
}

// A pipe that nobody empties stands for a disk that stalls: the first checkpoint is written to one.
class StalledDisk : public Progress {
 protected:
  void SetUp() override {
    const auto checkpoint = checkpoint_path(path("run"), 10);
    std::filesystem::create_directories(checkpoint.parent_path());
    ASSERT_EQ(::mkfifo(checkpoint.c_str(), 0600), 0);
    pipe_ = ::open(checkpoint.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(pipe_, 0);
  }
  void TearDown() override { ::close(pipe_); }
  // The checkpoint is larger than what a pipe holds.
  Arguments train_slowly(const Arguments& more) const {
    Arguments arguments = {"--synthetic-width", "10000", "--checkpoint-every", "1",
                           "--deadline",        "2s",    "--heartbeat",        "100ms"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return train("run", arguments);
  }
  bool is_stalled() const {
    pollfd ready{pipe_, POLLIN, 0};
    return ::poll(&ready, 1, 60'000) == 1;
  }
  // Of what is written, at most so many bytes; 0: it is at its end.
  std::size_t take_some(std::size_t bytes) const {
    std::vector<char> block(bytes);
    if (!is_stalled()) return 0;
    return static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe_, block.data(), bytes)));
  }
  void take(std::size_t bytes) const {
    while (bytes > 0) {
      const std::size_t got = take_some(std::min<std::size_t>(bytes, 65536));
      ASSERT_GT(got, 0U);
      bytes -= got;
    }
  }
  // How often the chief has said that it writes its last checkpoint.
  std::size_t farewells() const {
    const std::string words = "is leaving: writing the last checkpoint";
    const std::string text = log("run", "chief");
    std::size_t count = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
    return count;
  }
  void expect_end(PacelineProcess& process) const {
    EXPECT_EQ(process.wait(), 3) << process.output();
    EXPECT_THAT(process.output(),
                ContainsRegex("could not be written: no progress for .* while writing"));
    EXPECT_EQ(summary("run")["status"], "incomplete");
    EXPECT_THAT(summary("run")["error"].get<std::string>(), HasSubstr("could not be written"));
  }

  int pipe_ = -1;
};

TEST_F(StalledDisk, EndsTheRunWithItsReasonAndItsSummary) {
  PacelineProcess process(dir_.path(), train_slowly({}));
  ASSERT_TRUE(is_stalled());
  expect_end(process);
}

// The run has failed, and the chief is alone with its last checkpoint, for longer than --deadline.
TEST_F(StalledDisk, IsWaitedForAsLongAsItGetsOn) {
  PacelineProcess process(dir_.path(),
                          train_slowly({"--synthetic-classes", "100", "--deadline", "3s"}));
  ASSERT_TRUE(is_stalled());
  ::kill(process.roles("server0", 1)[0], SIGKILL);
  for (std::size_t round = 1; round <= 4; ++round) {  // half the deadline each
    ASSERT_TRUE(eventually(60, [&] { return farewells() >= round; })) << round;
    take(std::size_t{5} << 18);  // more than a block of a checkpoint
  }
  while (take_some(65536) > 0) {
  }
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("server0 is lost"));
  EXPECT_EQ(summary("run")["status"], "incomplete");
}

// Another worker takes the place of who kept the versions, and another saver asks it.
TEST_F(StalledDisk, DoesNotStopTheChiefWhenAnotherWorkerKeepsTheVersions) {
  PacelineProcess process(dir_.path(), train_slowly({"--exchange", "allreduce", "--workers", "2"}));
  ASSERT_TRUE(is_stalled());
  const bool first = log("run", "chief").find("keeper in worker0") != std::string::npos;
  const std::string keeper = first ? "worker0" : "worker1";
  ::kill(process.roles(keeper, 1)[0], SIGKILL);
  expect_end(process);
  EXPECT_THAT(log("run", "chief"), HasSubstr("keeper in " + keeper + " is lost"));
}

// A pipe that nobody reads from stands for a disk that stalls when all is done but the summary.
TEST_F(Progress, AChiefThatHangsInItsSummaryIsEndedWithThatReason) {
  PacelineProcess process(dir_.path(), train("run", {"--deadline", "2s"}));
  ASSERT_TRUE(has_begun("run"));
  ASSERT_EQ(::mkfifo((path("run") / "summary.json").c_str(), 0600), 0);
  ::kill(process.roles("server0", 1)[0], SIGKILL);
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("server0 is lost"));
  EXPECT_THAT(process.output(), HasSubstr("the chief made no progress for 2"));
  EXPECT_THAT(process.output(), HasSubstr("while writing its summary"));
}

// What one epoch has learned is saved by a survivor, whoever is gone.
TEST_F(Progress, ABrokenRingSavesWhatItHasLearned) {
  const Arguments epoch = {"--epochs",    "1",  "--synthetic-examples", kLongEpoch,
                           "--batch",     "10", "--synthetic-width",    "4",
                           "--optimizer", "sgd"};
  for (const std::string lost : {"worker0", "worker1", "worker2"}) {
    const std::string name = "run-" + lost;
    Arguments arguments = train(name, epoch);
    arguments.insert(arguments.end(),
                     {"--exchange", "allreduce", "--workers", "3", "--checkpoint-every", "1"});
    PacelineProcess process(dir_.path(), arguments);
    ASSERT_TRUE(has_begun(name));
    ::kill(process.roles(lost, 1)[0], SIGKILL);
    EXPECT_EQ(process.wait(), 4) << process.output();
    EXPECT_THAT(process.output(), HasSubstr(lost + " is lost"));
    EXPECT_THAT(process.output(), HasSubstr("Go on with: paceline train --resume"));
    EXPECT_GT(CheckpointReader(find_checkpoint(path(name))).info().version, 0U);
    const Result resumed = paceline({"train", "--resume", path(name).string(), "--quiet",
                                     "--exchange", "local", "--workers", "1"});
    ASSERT_EQ(resumed.code, 0) << resumed.output;
    expect_undisturbed(name, epoch, kRounding);
  }
}

}  // namespace
}  // namespace paceline

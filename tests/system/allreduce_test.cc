// Runs whose workers sum their gradients over a ring.
#include <gmock/gmock.h>
#include <signal.h>

#include <cmath>
#include <regex>
#include <thread>

#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Sums over a ring are rounded in another order than one process's.
constexpr double kRingRounding = 2e-5;

class AllReduceRun : public SyntheticRun {
 protected:
  // From the last checkpoint, for three epochs more: as if nothing had happened.
  void go_on(const std::string& name) const {
    const std::uint64_t steps = learned_by(path(name)).version;
    const std::string epochs = std::to_string(steps / 10 + 3);
    const Result resumed = paceline({"train", "--resume", path(name).string(), "--quiet",
                                     "--workers", "2", "--epochs", epochs});
    ASSERT_EQ(resumed.code, 0) << resumed.output;
    expect_undisturbed(
        name, train("whole-" + name, {"--exchange", "local", "--workers", "1", "--epochs", epochs}),
        kRingRounding);
  }
  Arguments endless(const std::string& name) const {
    return train(name, {"--exchange", "allreduce", "--workers", "3", "--epochs", "100000",
                        "--checkpoint-every", "0", "--deadline", "5s", "--heartbeat", "50ms"});
  }
};

TEST_F(AllReduceRun, EndsWithTheWeightsOfOneProcess) {
  run("one", {"--exchange", "local", "--workers", "1", "--optimizer", "momentum"});
  for (const char* workers : {"1", "2", "3"}) {
    const std::string name = std::string("ring") + workers;
    run(name, {"--exchange", "allreduce", "--workers", workers, "--optimizer", "momentum"});
    EXPECT_LT(difference(parameters("one"), parameters(name)), kRingRounding);
    EXPECT_EQ(summary(name)["examples"], 3 * 997);
    EXPECT_EQ(summary(name)["test_accuracy"], summary("one")["test_accuracy"]);
  }
}

// Epochs that are shorter than their tests wait for these; none is left out.
TEST_F(AllReduceRun, TestsEveryEpochHoweverShort) {
  run("run", {"--exchange", "allreduce", "--workers", "2", "--synthetic-examples", "100",
              "--synthetic-test-examples", "40000", "--epochs", "60", "--checkpoint-every", "0"});
  const nlohmann::json epochs = summary("run")["epoch_results"];
  ASSERT_EQ(epochs.size(), 60U);
  for (const nlohmann::json& epoch : epochs) EXPECT_TRUE(epoch["test_accuracy"].is_number());
}

TEST_F(AllReduceRun, IsResumedWithAnotherNumberOfWorkers) {
  PacelineProcess process(dir_.path(), endless("first"));
  ASSERT_TRUE(has_begun("first"));
  const auto roles = process.roles("", 5);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  for (const pid_t role : roles) EXPECT_FALSE(alive(role));
  const std::uint64_t done = summary("first")["examples_total"];
  EXPECT_GT(done, 0U);
  const std::uint64_t epochs = done / 997 + 3;
  const Result resumed =
      paceline({"train", "--resume", path("first").string(), "--run-dir", path("second").string(),
                "--quiet", "--workers", "2", "--epochs", std::to_string(epochs)});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(summary("second")["examples_total"], epochs * 997);
  expect_undisturbed(
      "second",
      train("whole", {"--exchange", "local", "--workers", "1", "--epochs", std::to_string(epochs)}),
      kRingRounding);
}

// One of them keeps what is learned; which, is a matter of who came first.
TEST_F(AllReduceRun, AKilledWorkerEndsItAndIsNamedByAll) {
  for (const std::string lost : {"worker0", "worker1", "worker2"}) {
    Arguments saving = endless("run-" + lost);
    saving.insert(saving.end(), {"--checkpoint-every", "1"});
    PacelineProcess process(dir_.path(), saving);
    ASSERT_TRUE(has_begun("run-" + lost));
    ASSERT_TRUE(
        eventually(20, [&] { return !names_in(path("run-" + lost) / "checkpoints").empty(); }));
    const auto roles = process.roles("", 5);
    ::kill(process.roles(lost, 1)[0], SIGKILL);
    EXPECT_EQ(process.wait(), 4) << process.output();
    EXPECT_THAT(process.output(), HasSubstr(lost + " is lost: it was killed by signal 9"));
    for (const std::string other : {"worker0", "worker1", "worker2"}) {
      if (other == lost) continue;
      EXPECT_THAT(read_text(path("run-" + lost) / "logs" / (other + ".log")),
                  AllOf(HasSubstr("the run has failed"), HasSubstr(lost + " is lost")))
          << other;
    }
    for (const pid_t role : roles) EXPECT_FALSE(alive(role));
    EXPECT_EQ(summary("run-" + lost)["status"], "incomplete");
    go_on("run-" + lost);
  }
}

// Also when it is the one that keeps versions for the others: it still listens, but does not
// answer.
TEST_F(AllReduceRun, AStoppedWorkerEndsItWithinTheDeadline) {
  for (const bool keeps : {false, true}) {
    const std::string name = keeps ? "keeper" : "other";
    PacelineProcess process(dir_.path(), endless(name));
    ASSERT_TRUE(has_begun(name));
    const std::string log = read_text(path(name) / "logs" / "chief.log");
    const auto has_keeper = [&](const std::string& worker) {
      return log.find("keeper in " + worker + " has registered") != std::string::npos;
    };
    const std::string stopped = has_keeper("worker1") == keeps   ? "worker1"
                                : has_keeper("worker0") == keeps ? "worker0"
                                                                 : "worker2";
    const pid_t worker = process.roles(stopped, 1)[0];
    ::kill(worker, SIGSTOP);
    EXPECT_EQ(process.wait(), 4) << process.output();
    EXPECT_THAT(process.output(), HasSubstr(stopped));
    EXPECT_FALSE(alive(worker));
    go_on(name);
  }
}

// The third in the order in which they came stands still, so that a step does not end.
TEST_F(AllReduceRun, AWorkerThatIsLostDuringALongStepIsNoReasonToLoseWhatWasLearned) {
  for (const std::size_t lost : {0U, 1U}) {
    const std::string name = "run" + std::to_string(lost);
    Arguments arguments = endless(name);
    arguments.insert(arguments.end(), {"--deadline", "8s", "--member-timeout", "60s"});
    PacelineProcess process(dir_.path(), arguments);
    ASSERT_TRUE(has_begun(name));
    const auto log = [&] { return read_text(path(name) / "logs" / "chief.log"); };
    std::vector<std::pair<std::size_t, std::string>> workers;  // by when they registered
    for (const std::string worker : {"worker0", "worker1", "worker2"}) {
      workers.emplace_back(log().find(" " + worker + " has registered"), worker);
    }
    std::sort(workers.begin(), workers.end());
    const pid_t stopped = process.roles(workers[2].second, 1)[0];
    ::kill(stopped, SIGSTOP);
    ASSERT_TRUE(eventually(
        20, [&] { return log().find("no step was completed for") != std::string::npos; }));
    ::kill(process.roles(workers[lost].second, 1)[0], SIGKILL);
    EXPECT_EQ(process.wait(), 4) << process.output();
    EXPECT_THAT(process.output(), HasSubstr(workers[lost].second + " is lost"));
    EXPECT_FALSE(alive(stopped));
    go_on(name);
  }
}

// What it computes does not end when the ring breaks, but its other threads beat meanwhile.
TEST_F(AllReduceRun, AKeeperThatComputesForLongIsWaitedForWhenAnotherIsLost) {
  PacelineProcess process(dir_.path(), endless("run"));
  ASSERT_TRUE(has_begun("run"));
  const auto log = [&] { return read_text(path("run") / "logs" / "chief.log"); };
  std::string keeper, lost;
  for (const std::string worker : {"worker0", "worker1", "worker2"}) {
    const bool keeps = log().find("keeper in " + worker + " has registered") != std::string::npos;
    (keeps ? keeper : lost) = worker;
  }
  const pid_t training = process.roles(keeper, 1)[0];
  {
    const HeldThread computing(training);
    ::kill(process.roles(lost, 1)[0], SIGKILL);
    ASSERT_TRUE(eventually(20, [&] { return log().find(lost + " is lost") != std::string::npos; }));
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), HasSubstr(lost + " is lost"));
  EXPECT_THAT(log(), Not(HasSubstr(keeper + " is lost")));
  go_on("run");
}

// Then nothing was learned that could be asked for.
TEST_F(AllReduceRun, ARingThatIsStillConnectingIsStoppedAtOnce) {
  PacelineProcess process(dir_.path(), endless("run"));
  const auto log = [&] {
    const auto file = path("run") / "logs" / "chief.log";
    return std::filesystem::exists(file) ? read_text(file) : std::string();
  };
  std::smatch first_and_second;
  std::string registered;
  const std::regex two("info: (worker.) has registered[^]*info: (worker.) has registered");
  ASSERT_TRUE(eventually(20, [&] {
    registered = log();
    return std::regex_search(registered, first_and_second, two);
  }));
  {
    const HeldThread late(process.roles(first_and_second[2], 1)[0]);
    ASSERT_TRUE(eventually(20, [&] { return log().find("keeper in ") != std::string::npos; }));
    process.signal(SIGINT);
    EXPECT_TRUE(eventually(20, [&] { return log().find("is leaving") != std::string::npos; }));
  }
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_THAT(process.output(), Not(HasSubstr("does not say where it stopped")));
}

TEST_F(AllReduceRun, SixteenBitsOnTheWireLearnAsWell) {
  run("whole", {"--exchange", "allreduce", "--workers", "2"});
  run("half", {"--exchange", "allreduce", "--workers", "2", "--wire", "bf16"});
  EXPECT_NEAR(summary("half")["train_loss"].get<double>(),
              summary("whole")["train_loss"].get<double>(), 0.01);
  EXPECT_NE(parameters("half"), parameters("whole"));
}

}  // namespace
}  // namespace paceline

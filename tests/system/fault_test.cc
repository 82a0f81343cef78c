// Processes that die, stop or do not belong: the run goes on, or says why it cannot.
#include <gmock/gmock.h>

#include <csignal>
#include <regex>
#include <thread>

#include "checkpoint/checkpoint.h"
#include "net/raw_peer.h"
#include "session/hello.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

class Faults : public LongRun, public ::testing::WithParamInterface<const char*> {
 protected:
  bool sync() const { return std::string(GetParam()) == "sync"; }
  Arguments in_mode(Arguments more) const {
    more.insert(more.end(), {"--mode", GetParam()});
    if (sync()) more.push_back("--deterministic");
    return more;
  }
};

TEST_P(Faults, AKilledWorkerIsReplacedAndEveryExampleIsCovered) {
  PacelineProcess process(dir_.path(), train("run", in_mode({"--workers", "3", "--servers", "2"})));
  ASSERT_TRUE(has_begun("run"));
  const auto workers = process.roles("worker1", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGKILL);
  EXPECT_EQ(process.wait(), 0) << process.output();
  const auto summary = this->summary("run");
  EXPECT_EQ(summary["status"], "complete");
  for (const auto& role : summary["roles"]) {
    EXPECT_EQ(role.value("lost", false), role["name"] == "worker1") << role;
  }
  EXPECT_EQ(summary["examples"], kExamples);
  EXPECT_EQ(summary["epochs"], kEpochs);
  EXPECT_NE(log("run", "chief").find("worker1 is lost"), std::string::npos);
  if (sync()) expect_undisturbed("run");
}

TEST_P(Faults, AStoppedWorkerCountsAsDeadAfterItsTimeout) {
  PacelineProcess process(dir_.path(),
                          train("run", in_mode({"--workers", "3", "--heartbeat", "50ms",
                                                "--member-timeout", "500ms"})));
  ASSERT_TRUE(has_begun("run"));
  const auto workers = process.roles("worker2", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary("run")["examples"], kExamples);
  EXPECT_FALSE(alive(workers[0]));
  if (sync()) expect_undisturbed("run");
}

INSTANTIATE_TEST_SUITE_P(Modes, Faults, ::testing::Values("sync", "async", "ssp"));

// It has nothing left to do while the last test is made: only its last figures are waited for,
// and not for ever.
TEST_F(LongRun, AWorkerThatIsStoppedAtTheEndDoesNotFailTheRun) {
  PacelineProcess process(
      dir_.path(),
      train("run", {"--workers", "2", "--epochs", "2", "--synthetic-test-examples", "1000000",
                    "--heartbeat", "100ms", "--member-timeout", "2s", "--deterministic"}));
  const auto workers = process.roles("worker1", 1);
  ASSERT_EQ(workers.size(), 1U);
  ASSERT_TRUE(eventually(
      60, [&] { return log("run", "chief").find("epoch 2 is trained") != std::string::npos; }));
  ::kill(workers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary("run")["status"], "complete");
  EXPECT_EQ(summary("run")["examples"], 2 * 997);
  EXPECT_FALSE(alive(workers[0]));
  expect_undisturbed("run", {"--epochs", "2"});
}

TEST_F(LongRun, AKilledLauncherLeavesNoOrphan) {
  PacelineProcess process(
      dir_.path(), train("run", {"--workers", "2", "--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto roles = process.roles("", 5);
  ASSERT_EQ(roles.size(), 5U);
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait(), -SIGKILL);
  for (const pid_t role : roles) {
    EXPECT_TRUE(eventually(2, [&] { return !alive(role); })) << role;
  }
  resume("run");
  expect_undisturbed("run");
}

TEST_F(LongRun, AKilledServerEndsTheRunWithAWord) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGKILL);
  EXPECT_NE(process.wait(), 0);
  EXPECT_NE(process.output().find("server0 is lost"), std::string::npos) << process.output();
  EXPECT_NE(process.output().find("--resume"), std::string::npos) << process.output();
  resume("run");
  expect_undisturbed("run");
}

TEST_P(Faults, CtrlCSavesAndResumeEndsLikeARunThatWasNeverStopped) {
  PacelineProcess process(dir_.path(), train("first", in_mode({})));
  ASSERT_TRUE(has_begun("first"));
  const auto roles = process.roles("", 5);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_NE(process.output().find("--resume"), std::string::npos) << process.output();
  for (const pid_t role : roles) EXPECT_FALSE(alive(role));
  EXPECT_EQ(summary("first")["status"], "incomplete");

  // With another number of workers and servers.
  const Result resumed =
      paceline({"train", "--resume", path("first").string(), "--run-dir", path("second").string(),
                "--quiet", "--workers", "3", "--servers", "2"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(summary("second")["examples_total"], kExamples);
  if (sync()) expect_undisturbed("second");
}

// The one has applied a step of which the other, which stands still, has still to read several
// chunks; the chief's word is nearly always before the last. Adagrad's sums go back, too.
TEST_F(LongRun, CtrlCBetweenTwoServersSavesTheStepThatBothHave) {
  // clang-format off
  const Arguments size = {
      "--synthetic-width", "40000", "--synthetic-examples", "400", "--batch", "10", "--rate",
      "0.001", "--epochs", std::to_string(2 + kEpochs / 300)};
  // clang-format on
  Arguments arguments = train("run", size);
  arguments.insert(arguments.end(), {"--workers", "2", "--servers", "2", "--heartbeat", "50ms",
                                     "--deadline", "8s", "--deterministic"});
  PacelineProcess process(dir_.path(), arguments);
  const auto servers = process.roles("server1", 1);
  ASSERT_EQ(servers.size(), 1U);
  const auto chief_says = [&](const std::string& words) {
    return eventually(20, [&] { return log("run", "chief").find(words) != std::string::npos; });
  };
  ASSERT_TRUE(has_begun("run"));
  const std::regex some("examples_done\":[1-9]");  // then there is something to save
  ASSERT_TRUE(eventually(
      20, [&] { return std::regex_search(read_text(path("run") / "metrics.jsonl"), some); }));
  {
    const HeldThread serving(servers[0]);
    ASSERT_TRUE(chief_says("no step was completed for"));
    process.signal(SIGINT);
    ASSERT_TRUE(chief_says("stopping: waiting for server1"));
  }
  EXPECT_EQ(process.wait(), 130) << process.output();
  resume("run");
  expect_undisturbed("run", size);
}

TEST_F(LongRun, ResumesInItsOwnDirectory) {
  PacelineProcess process(dir_.path(), train("run", {"--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 130) << process.output();
  resume("run");
  EXPECT_EQ(summary("run")["status"], "complete");
  EXPECT_EQ(summary("run")["examples_total"], kExamples);
  expect_undisturbed("run");
}

TEST_F(LongRun, AResumedRunRemembersTheEpochsBefore) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  resume("run");
  const auto summary = this->summary("run");
  EXPECT_EQ(summary["epochs"], kEpochs);
  for (int i = 0; i < kEpochs; ++i) ASSERT_EQ(summary["epoch_results"][i]["epoch"], i + 1);
  expect_undisturbed("run");
}

TEST_F(LongRun, AKilledChiefEndsTheRunWithAWord) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto chiefs = process.roles("chief", 1);
  ASSERT_EQ(chiefs.size(), 1U);
  ::kill(chiefs[0], SIGKILL);
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("chief was killed by signal 9"));
  EXPECT_THAT(process.output(), ::testing::HasSubstr("--resume"));
  resume("run");
  expect_undisturbed("run");
}

TEST_F(LongRun, AStoppedChiefEndsTheRunAfterItsTimeout) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--heartbeat", "50ms", "--member-timeout", "2s",
                                        "--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto chiefs = process.roles("chief", 1);
  ASSERT_EQ(chiefs.size(), 1U);
  ::kill(chiefs[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("the chief did not answer"));
  EXPECT_FALSE(alive(chiefs[0]));
  EXPECT_THAT(log("run", "server0"), ::testing::HasSubstr("nothing heard from it for"));
  resume("run");
  expect_undisturbed("run");
}

TEST_F(LongRun, OneCtrlCEndsARunWhoseChiefIsStopped) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto roles = process.roles("", 5);
  ASSERT_EQ(roles.size(), 5U);
  const auto chiefs = process.roles("chief", 1);
  ASSERT_EQ(chiefs.size(), 1U);
  ::kill(chiefs[0], SIGSTOP);
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  for (const pid_t role : roles) EXPECT_FALSE(alive(role));
  resume("run");
  expect_undisturbed("run");
}

// Here the last word of a worker is waited for.
TEST_F(LongRun, ASecondCtrlCEndsTheRunAtOnceWithoutSaving) {
  PacelineProcess process(
      dir_.path(), train("run", {"--workers", "2", "--mode", "async", "--checkpoint-every", "0"}));
  ASSERT_TRUE(has_begun("run"));
  const auto roles = process.roles("", 5);
  ASSERT_EQ(roles.size(), 5U);
  const auto workers = process.roles("worker0", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  process.signal(SIGINT);
  ASSERT_TRUE(eventually(20, [&] {
    return log("run", "chief").find("stopping: waiting for worker0") != std::string::npos;
  }));
  EXPECT_TRUE(alive(process.pid()));  // one is not enough
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_TRUE(names_in(path("run") / "checkpoints").empty());
  EXPECT_FALSE(std::filesystem::exists(path("run") / "summary.json"));
  for (const pid_t role : roles) EXPECT_FALSE(alive(role));
}

// What a worker has pushed to one server is waited for until the other has it, too; between two
// epochs workers have nothing under way, and only that server is waited for.
TEST_F(LongRun, CtrlCWaitsUntilAsynchronousServersAreEven) {
  PacelineProcess process(dir_.path(), train("run", {"--workers", "2", "--servers", "2", "--mode",
                                                     "async", "--checkpoint-every", "0"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server1", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGSTOP);
  ASSERT_TRUE(eventually(10, [&] { return stopped(servers[0]); }));
  process.signal(SIGINT);
  ASSERT_TRUE(eventually(
      20, [&] { return log("run", "chief").find("stopping: waiting for") != std::string::npos; }));
  std::this_thread::sleep_for(std::chrono::seconds(2));  // however long, not only until then
  ::kill(servers[0], SIGCONT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_THAT(log("run", "chief"), ::testing::Not(::testing::HasSubstr("cut short")));
  const Result resumed = paceline({"train", "--resume", path("run").string(), "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(summary("run")["examples_total"], kExamples);
}

// Or it would look as if what was learned had been saved.
TEST_F(LongRun, AServerThatDiesDuringCtrlCIsTold) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto chiefs = process.roles("chief", 1);
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(chiefs.size(), 1U);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(chiefs[0], SIGSTOP);
  ASSERT_TRUE(eventually(10, [&] { return stopped(chiefs[0]); }));
  ::kill(servers[0], SIGKILL);
  process.signal(SIGINT);
  ASSERT_TRUE(eventually(10, [&] { return is_pending(chiefs[0], SIGTERM); }));
  ::kill(chiefs[0], SIGCONT);
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("server0 is lost"));
  resume("run");
  expect_undisturbed("run");
}

TEST_F(LongRun, CtrlZPausesAllRolesAndTheRunGoesOnAfterwards) {
  PacelineProcess process(dir_.path(), train("run", {"--heartbeat", "50ms", "--member-timeout",
                                                     "2s", "--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  const auto roles = process.roles("", 5);
  ASSERT_EQ(roles.size(), 5U);
  process.signal(SIGTSTP);
  EXPECT_TRUE(eventually(10, [&] { return stopped(process.pid()); }));
  for (const pid_t role : roles) {
    EXPECT_TRUE(eventually(10, [&] { return stopped(role); })) << role;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(3000));  // beyond the timeout
  process.signal(SIGCONT);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary("run")["examples"], kExamples);
  EXPECT_THAT(log("run", "chief"), ::testing::Not(::testing::HasSubstr("is lost")));
  expect_undisturbed("run");
}

TEST_F(LongRun, WithoutItsEvaluatorARunGoesOnUntested) {
  PacelineProcess process(dir_.path(), train("run", {"--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  const auto evaluators = process.roles("evaluator0", 1);
  ASSERT_EQ(evaluators.size(), 1U);
  ::kill(evaluators[0], SIGKILL);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("goes on without testing"));
  const auto summary = this->summary("run");
  EXPECT_EQ(summary["epochs"], kEpochs);
  EXPECT_TRUE(summary["test_accuracy"].is_null());
  EXPECT_GT(summary["train_loss"], 0);
  expect_undisturbed("run");
}

TEST_F(LongRun, ARunThatEndedBeforeItsFirstCheckpointCanBeStartedAgain) {
  PacelineProcess process(dir_.path(), train("run", {"--workers", "3", "--checkpoint-every", "0"}));
  ASSERT_TRUE(has_begun("run"));
  for (const pid_t role : process.roles("", 6)) ::kill(role, SIGKILL);
  EXPECT_EQ(process.wait(), 4) << process.output();
  ASSERT_TRUE(names_in(path("run") / "checkpoints").empty());
  const Result again = paceline(train("run", {"--epochs", "3", "--deterministic"}));
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(summary("run")["epochs"], 3);
  expect_undisturbed("run", {"--epochs", "3"});
}

TEST_F(LongRun, ARunDirectoryIsTrainedInByOneProcessAtATime) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const Result second = paceline({"train", "--resume", path("run").string(), "--epochs", "9999"});
  EXPECT_EQ(second.code, 2) << second.output;
  EXPECT_NE(second.output.find("another process is training"), std::string::npos) << second.output;
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  resume("run");
  expect_undisturbed("run");
}

TEST_F(LongRun, AStoppedServerCountsAsDeadAfterItsTimeout) {
  PacelineProcess process(
      dir_.path(), train("run", {"--servers", "2", "--heartbeat", "50ms", "--member-timeout", "5s",
                                 "--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto servers = process.roles("server1", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGSTOP);
  EXPECT_NE(process.wait(), 0);
  EXPECT_NE(process.output().find("server1 is lost"), std::string::npos) << process.output();
  EXPECT_FALSE(alive(servers[0]));
  resume("run");
  expect_undisturbed("run");
}

TEST_F(LongRun, AServerThatMakesNoProgressUntilTheDeadlineIsNamed) {
  PacelineProcess process(
      dir_.path(), train("run", {"--servers", "2", "--deadline", "2s", "--member-timeout", "50s",
                                 "--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto servers = process.roles("server1", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(),
              ::testing::ContainsRegex("server1 is lost: no progress for 2.*--deadline"));
  EXPECT_FALSE(alive(servers[0]));
  resume("run");
  expect_undisturbed("run");
}

// The thread that serves workers does something long: the chief hears of its server all the same.
TEST_F(LongRun, AServerBeatsWhateverItsWorkTakes) {
  PacelineProcess process(dir_.path(), train("run", {"--heartbeat", "50ms", "--member-timeout",
                                                     "1s", "--deadline", "8s", "--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  {
    const HeldThread serving(servers[0]);
    // That is, for a quarter of the deadline: twice as long as silence may last.
    ASSERT_TRUE(eventually(20, [&] {
      return log("run", "chief").find("no step was completed for") != std::string::npos;
    }));
  }
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_THAT(log("run", "chief"), ::testing::Not(::testing::HasSubstr("is lost")));
  EXPECT_EQ(summary("run")["examples"], kExamples);
  expect_undisturbed("run");
}

TEST_F(LongRun, AnEvaluatorThatIsAskedToEndSaysSo) {
  PacelineProcess process(dir_.path(), train("run", {"--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  const auto evaluators = process.roles("evaluator0", 1);
  ASSERT_EQ(evaluators.size(), 1U);
  ::kill(evaluators[0], SIGTERM);
  EXPECT_TRUE(eventually(20, [&] {
    return log("run", "chief").find("evaluator0 is lost: interrupted") != std::string::npos;
  })) << log("run", "chief");
  EXPECT_EQ(process.wait(), 0) << process.output();
  expect_undisturbed("run");
}

// Without it the run would end, and what it holds would be lost.
TEST_F(LongRun, AServerThatIsAskedToEndEndsTheRunAsCtrlCDoes) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "0", "--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGTERM);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("interrupted"));
  resume("run");
  expect_undisturbed("run");
}

class EndedByAScheduler : public LongRun, public ::testing::WithParamInterface<const char*> {};

// As systemd and Slurm do: to the launcher and to every role. The same signal may come twice, to a
// process and to its group.
TEST_P(EndedByAScheduler, SavesWhatItHasLearned) {
  const bool ring = std::string(GetParam()) == "allreduce";  // whose steps take longer
  const Arguments size = {"--optimizer", "sgd", "--epochs", std::to_string(ring ? 200 : kEpochs)};
  Arguments arguments = train("run", {"--exchange", GetParam(), "--checkpoint-every", "0"});
  arguments.insert(arguments.end(), size.begin(), size.end());
  PacelineProcess process(dir_.path(), arguments);
  ASSERT_TRUE(has_begun("run"));
  auto all = process.roles("", ring ? 4 : 5);
  all.push_back(process.pid());
  for (int time = 0; time < 2; ++time) {
    for (const pid_t one : all) ::kill(one, SIGTERM);
  }
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_GT(CheckpointReader(find_checkpoint(path("run"))).info().version, 0U);
  resume("run");
  expect_undisturbed("run", size, kRounding);
}
INSTANTIATE_TEST_SUITE_P(Exchanges, EndedByAScheduler, ::testing::Values("ps", "allreduce"));

// A terminal that is closed may say so twice; only Ctrl-C is a person who will not wait.
TEST_F(LongRun, ASecondSignalOfAnotherKindDoesNotEndItUnsaved) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--checkpoint-every", "0", "--deterministic"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGSTOP);  // so that the run is still there when the second comes
  process.signal(SIGHUP);
  ASSERT_TRUE(eventually(20, [&] {
    return log("run", "chief").find("stopping: waiting for server0") != std::string::npos;
  }));
  process.signal(SIGHUP);
  process.signal(SIGTERM);
  EXPECT_FALSE(eventually(0.5, [&] { return !alive(servers[0]); }));
  ::kill(servers[0], SIGCONT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  resume("run");
  expect_undisturbed("run");
}

// It beats on, but does not get on.
TEST_F(LongRun, AServerWhoseThreadHangsIsNamed) {
  PacelineProcess process(
      dir_.path(), train("run", {"--heartbeat", "50ms", "--member-timeout", "50s", "--deadline",
                                 "2s", "--checkpoint-every", "1", "--deterministic"}));
  ASSERT_TRUE(has_saved("run"));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  {
    const HeldThread serving(servers[0]);
    EXPECT_TRUE(eventually(20, [&] {
      return log("run", "chief").find("server0 is lost: no progress for") != std::string::npos;
    }));
  }
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(), ::testing::HasSubstr("while serving workers"));
  resume("run");
  expect_undisturbed("run");
}

// What a stranger sends to the chief of a run touches nothing but the stranger's connection.
class Stranger : public LongRun {
 protected:
  // Sends `bytes` to the chief of a run and returns what the chief answers; the run ends
  // as if nothing had happened.
  std::string answer_to(const std::string& bytes) {
    const std::string port = std::to_string(free_port());
    PacelineProcess process(
        dir_.path(), train("run", {"--transport", "tcp", "--port", port, "--deterministic"}));
    EXPECT_TRUE(has_begun("run"));
    RawPeer peer(Address::parse("tcp:127.0.0.1:" + port));
    std::string answer;
    std::size_t sent = 0;
    eventually(10, [&] {
      sent += peer.write(std::string_view(bytes).substr(sent));
      answer += peer.read();
      return sent == bytes.size() && answer.size() > kHeaderBytes;
    });
    EXPECT_EQ(process.wait(), 0) << process.output();
    EXPECT_EQ(summary("run")["examples"], kExamples);
    expect_undisturbed("run");
    return answer;
  }
};

TEST_F(Stranger, OfAnotherVersionIsRefusedWithASentence) {
  FrameHeader hello;
  hello.type = kHelloType;
  const std::string answer = answer_to(raw_frame(hello, "", "", kProtocolVersion + 1));
  const std::string speaks = "the peer speaks " + std::to_string(kProtocolVersion + 1);
  EXPECT_NE(answer.find(speaks), std::string::npos) << answer;
}

TEST_F(Stranger, OfAnotherRunIsRefusedWithASentence) {
  FrameHeader hello;
  hello.type = kHelloType;
  hello.run = 12345;
  const std::string answer = answer_to(raw_frame(hello, encode_hello({"worker", ""}), ""));
  EXPECT_NE(answer.find("this is run"), std::string::npos) << answer;
}

TEST_F(Stranger, ThatSpeaksNoProtocolIsOnlyLogged) {
  answer_to("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + std::string(64, ' '));
  EXPECT_NE(log("run", "chief").find("does not speak"), std::string::npos) << log("run", "chief");
}

}  // namespace
}  // namespace paceline

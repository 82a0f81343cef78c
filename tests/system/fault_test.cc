// Processes that die, stop or do not belong: the run goes on, or says why it cannot.
#include <gmock/gmock.h>

#include <csignal>

#include "net/hello.h"
#include "net/raw_peer.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

class Faults : public LongRun, public ::testing::WithParamInterface<const char*> {};

TEST_P(Faults, AKilledWorkerIsReplacedAndEveryExampleIsCovered) {
  PacelineProcess process(dir_.path(),
                          train("run", {"--workers", "3", "--servers", "2", "--mode", GetParam()}));
  ASSERT_TRUE(has_begun("run"));
  const auto workers = process.roles("worker1", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGKILL);
  EXPECT_EQ(process.wait(), 0) << process.output();
  const auto summary = this->summary("run");
  EXPECT_EQ(summary["status"], "complete");
  EXPECT_EQ(summary["examples"], kExamples);
  EXPECT_EQ(summary["epochs"], kEpochs);
  EXPECT_NE(log("run", "chief").find("worker1 is lost"), std::string::npos);
}

TEST_P(Faults, AStoppedWorkerCountsAsDeadAfterItsTimeout) {
  PacelineProcess process(
      dir_.path(), train("run", {"--workers", "3", "--mode", GetParam(), "--heartbeat", "50ms",
                                 "--member-timeout", "500ms"}));
  ASSERT_TRUE(has_begun("run"));
  const auto workers = process.roles("worker2", 1);
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 0) << process.output();
  EXPECT_EQ(summary("run")["examples"], kExamples);
  EXPECT_FALSE(alive(workers[0]));
}

INSTANTIATE_TEST_SUITE_P(Modes, Faults, ::testing::Values("sync", "async", "ssp"));

TEST_F(LongRun, AKilledLauncherLeavesNoOrphan) {
  PacelineProcess process(dir_.path(), train("run", {"--workers", "2"}));
  ASSERT_TRUE(has_begun("run"));
  const auto roles = process.roles("", 5);
  ASSERT_EQ(roles.size(), 5U);
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait(), -SIGKILL);
  for (const pid_t role : roles) {
    EXPECT_TRUE(eventually(2, [&] { return !alive(role); })) << role;
  }
}

TEST_F(LongRun, AKilledServerEndsTheRunWithAWord) {
  PacelineProcess process(dir_.path(), train("run", {"--workers", "2"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server0", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGKILL);
  EXPECT_NE(process.wait(), 0);
  EXPECT_NE(process.output().find("server0 is lost"), std::string::npos) << process.output();
  EXPECT_NE(process.output().find("--resume"), std::string::npos) << process.output();
}

TEST_P(Faults, CtrlCSavesAndResumeEndsLikeARunThatWasNeverStopped) {
  const bool sync = std::string(GetParam()) == "sync";
  Arguments options = {"--mode", GetParam()};
  if (sync) options.push_back("--deterministic");
  PacelineProcess process(dir_.path(), train("first", options));
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
  if (!sync) return;
  const Result uninterrupted = paceline(train("whole", options));
  ASSERT_EQ(uninterrupted.code, 0) << uninterrupted.output;
  EXPECT_EQ(parameters("second"), parameters("whole"));
}

TEST_F(LongRun, ResumesInItsOwnDirectory) {
  PacelineProcess process(dir_.path(), train("run", {}));
  ASSERT_TRUE(has_begun("run"));
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 130) << process.output();
  const Result resumed = paceline({"train", "--resume", path("run").string(), "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(summary("run")["status"], "complete");
  EXPECT_EQ(summary("run")["examples_total"], kExamples);
}

TEST_F(LongRun, ARunDirectoryIsTrainedInByOneProcessAtATime) {
  PacelineProcess process(dir_.path(), train("run", {"--checkpoint-every", "1"}));
  ASSERT_TRUE(eventually(20, [&] {
    return std::filesystem::exists(path("run") / "checkpoints") &&
           names_in(path("run") / "checkpoints").size() > 2;
  }));
  const Result second = paceline({"train", "--resume", path("run").string(), "--epochs", "9999"});
  EXPECT_EQ(second.code, 2) << second.output;
  EXPECT_NE(second.output.find("another process is training"), std::string::npos) << second.output;
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
}

TEST_F(LongRun, AStoppedServerCountsAsDeadAfterItsTimeout) {
  PacelineProcess process(dir_.path(), train("run", {"--servers", "2", "--heartbeat", "50ms",
                                                     "--member-timeout", "1s"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server1", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGSTOP);
  EXPECT_NE(process.wait(), 0);
  EXPECT_NE(process.output().find("server1 is lost"), std::string::npos) << process.output();
  EXPECT_FALSE(alive(servers[0]));
}

TEST_F(LongRun, AWaitThatReachesItsDeadlineSaysWhoWaitsForWhom) {
  PacelineProcess process(
      dir_.path(), train("run", {"--servers", "2", "--deadline", "2s", "--member-timeout", "50s"}));
  ASSERT_TRUE(has_begun("run"));
  const auto servers = process.roles("server1", 1);
  ASSERT_EQ(servers.size(), 1U);
  ::kill(servers[0], SIGSTOP);
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(process.output(),
              ::testing::ContainsRegex("worker[01] has waited 2.* for .*server1"));
  EXPECT_THAT(process.output(), ::testing::ContainsRegex("nothing heard from server1 for"));
  EXPECT_NE(process.output().find("--deadline"), std::string::npos) << process.output();
  EXPECT_FALSE(alive(servers[0]));
}

// What a stranger sends to the chief of a run touches nothing but the stranger's connection.
class Stranger : public LongRun {
 protected:
  // Sends `bytes` to the chief of a run and returns what the chief answers; the run ends
  // as if nothing had happened.
  std::string answer_to(const std::string& bytes) {
    const std::string port = std::to_string(free_port());
    PacelineProcess process(dir_.path(), train("run", {"--transport", "tcp", "--port", port}));
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
    return answer;
  }
};

TEST_F(Stranger, OfAnotherVersionIsRefusedWithASentence) {
  FrameHeader hello;
  hello.type = kHelloType;
  const std::string answer = answer_to(raw_frame(hello, "", "", kProtocolVersion + 1));
  EXPECT_NE(answer.find("the peer speaks 2"), std::string::npos) << answer;
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

// Runs whose messages take longer than --deadline on links that are slow: that is no silence.
#include <gmock/gmock.h>

#include <csignal>

#include "checkpoint/checkpoint.h"
#include "lab/network.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Two hosts, with a worker and a server on each. A message of 400 KB takes 1.6 s from one to the
// other, and all parameters of a server take twice as long.
class SlowLinkAsRoot : public LongRun {
 protected:
  Arguments train(const std::string& name, const Arguments& more) const {
    Arguments arguments = {"--transport",
                           "tcp",
                           "--insecure",
                           "--hosts",
                           network_.text(),
                           "--workers",
                           "2",
                           "--synthetic-width",
                           "40000",
                           "--synthetic-examples",
                           "100",
                           "--synthetic-test-examples",
                           "100",
                           "--deadline",
                           "1s",
                           "--heartbeat",
                           "50ms",
                           "--optimizer",
                           "sgd"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return LongRun::train(name, arguments);
  }
  // The last version is read over the link as well, when all steps are done.
  void expect_no_harm(const Arguments& exchange) const {
    Arguments arguments = {"--epochs", "1", "--checkpoint-every", "1"};
    arguments.insert(arguments.end(), exchange.begin(), exchange.end());
    const Result result = paceline(train("run", arguments));
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(summary("run")["status"], "complete");
    SyntheticRun::expect_undisturbed(
        "run",
        SyntheticRun::train("undisturbed",
                            {"--exchange", "local", "--workers", "1", "--synthetic-width", "40000",
                             "--synthetic-examples", "100", "--synthetic-test-examples", "100",
                             "--epochs", "1", "--optimizer", "sgd"}),
        kRounding);
  }

  EmulatedNetwork network_{{.hosts = 2, .bits_per_second = 2e6, .one_core_each = false}};
};

TEST_F(SlowLinkAsRoot, AMessageThatTakesLongerThanTheDeadlineHarmsNobody) {
  expect_no_harm({"--servers", "2"});
}

// A quarter of all parameters, for Gloo, that tells when all of it has arrived. While TCP sends
// again what was lost, nothing moves: that may take a second.
TEST_F(SlowLinkAsRoot, AMessageOfARingThatTakesLongerThanTheDeadlineHarmsNobody) {
  expect_no_harm({"--exchange", "allreduce", "--deadline", "1500ms"});
}

// What workers have begun is finished: servers end alike, however long that takes.
TEST_F(SlowLinkAsRoot, CtrlCWaitsForWhatIsUnderWay) {
  PacelineProcess process(
      dir_.path(), train("run", {"--servers", "2", "--mode", "async", "--checkpoint-every", "0",
                                 "--synthetic-examples", "1000"}));
  ASSERT_TRUE(has_begun("run", 40));  // a step takes a while
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 130) << process.output();
  EXPECT_THAT(process.output(), HasSubstr("--resume"));
  // The former is said after a second: a push was under way, and longer than that.
  EXPECT_THAT(log("run", "chief"),
              AllOf(HasSubstr("stopping: waiting for worker"), Not(HasSubstr("cut short"))));
  EXPECT_GT(CheckpointReader(find_checkpoint(path("run"))).info().examples, 0U);
}

}  // namespace
}  // namespace paceline

// A run whose standard streams are not what one expects.
#include "system/run_fixture.h"

namespace paceline {
namespace {

class Streams : public SyntheticRun {
 protected:
  // The command as bash starts it: `script` has it as "$@".
  Result in_bash(const std::string& script, const Arguments& arguments) const {
    PacelineProcess process(dir_.path(), arguments,
                            {"bash", "-c", "set -o pipefail; " + script, "bash"});
    const int code = process.wait();
    return {code, process.output()};
  }
  // Talks more than --quiet does.
  Arguments talkative(const std::string& name) const {
    Arguments arguments = train(name, {"--epochs", "50"});
    std::erase(arguments, "--quiet");
    return arguments;
  }
};

TEST_F(Streams, ThatAreClosedDoNotKeepARunFromStarting) {
  int number = 0;
  for (const std::string closed : {"<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"}) {
    const std::string name = "run" + std::to_string(++number);
    const Result result = in_bash("\"$@\" " + closed, talkative(name));
    EXPECT_EQ(result.code, 0) << closed << ":\n" << result.output;
    EXPECT_EQ(summary(name)["status"], "complete") << closed;
  }
}

TEST_F(Streams, AReaderThatLeavesDoesNotEndTheRun) {
  for (const std::string exchange : {"ps", "local"}) {
    Arguments arguments = talkative(exchange);
    arguments.insert(arguments.end(), {"--exchange", exchange});
    const Result result = in_bash("\"$@\" | true", arguments);
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(summary(exchange)["status"], "complete");
    EXPECT_EQ(summary(exchange)["examples"], 50 * 997);
    EXPECT_NE(result.output.find("the output could not be written; the run is in"),
              std::string::npos)
        << result.output;
  }
}

TEST_F(Streams, AFullDiskUnderTheOutputIsAnError) {
  const Result result = in_bash("\"$@\" >/dev/full", talkative("run"));
  EXPECT_EQ(result.code, 3) << result.output;
  EXPECT_EQ(summary("run")["status"], "complete");
}

}  // namespace
}  // namespace paceline

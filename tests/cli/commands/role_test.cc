#include <gmock/gmock.h>

#include <sstream>

#include "base/file/memory_file.h"
#include "cli/commands/command_line.h"
#include "config/testing.h"
#include "session/failure.h"

namespace paceline {
namespace {

class RoleCommand : public testing::Test {
 protected:
  void run(const std::vector<std::string>& words) {
    run_command(parse_command_line(words, environment_), {environment_, actions_, out_, out_});
  }
  TestFolder folder_;
  Environment environment_;
  Actions actions_;
  std::ostringstream out_;
};

TEST_F(RoleCommand, TellsWhoStartedItWhyItFails) {
  actions_.role = [](const RoleOptions&) { throw CommError(Error("it was closed"), "it is lost"); };
  const MemoryFile failure("failure");
  EXPECT_THROW(run({"role", "chief", "--spec-fd", "5", "--failure-fd",
                    std::to_string(failure.descriptor())}),
               Error);
  const auto told = read_failure_line(content_of(failure.descriptor(), 1000));
  ASSERT_TRUE(told);
  EXPECT_STREQ(told->what(), "it is lost: it was closed");
}

}  // namespace
}  // namespace paceline

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <sstream>

#include "base/file/file.h"
#include "cli/commands/command_line.h"
#include "config/recipe.h"
#include "config/testing.h"
#include "session/failure.h"

namespace paceline {
namespace {

class RoleCommand : public testing::Test {
 protected:
  void run(const std::vector<std::string>& words) {
    run_command(parse_command_line(words, environment_), {environment_, actions_, out_, out_});
  }
  // Runs a role that fails, and returns what it tells whoever started it.
  std::string told(const std::filesystem::path& config) {
    const auto file = folder_.path() / "failure";
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT_THROW(run({"role", "chief", "--config", config.string(), "--name", "chief",
                      "--failure-fd", std::to_string(fd)}),
                 Error);
    ::close(fd);
    const auto failure = read_failure_line(read_text(file));
    return failure ? failure->what() : "nothing";
  }

  TestFolder folder_;
  Environment environment_;
  Actions actions_;
  std::ostringstream out_;
};

TEST_F(RoleCommand, TellsWhoStartedItWhyItFails) {
  actions_.role = [](const RoleOptions&) { throw CommError(Error("it was closed"), "it is lost"); };
  EXPECT_EQ(told(folder_.write("config.toml", config_toml(RunConfig{}))),
            "it is lost: it was closed");
}

TEST_F(RoleCommand, TellsThatItHasNoConfiguration) {
  EXPECT_THAT(told(folder_.path() / "none.toml"), testing::HasSubstr("none.toml"));
}

}  // namespace
}  // namespace paceline

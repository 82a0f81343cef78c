#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Puts the default logger back, so that the file is closed before its folder goes.
class Log : public testing::Test {
 protected:
  ~Log() override { spdlog::set_default_logger(before_); }

  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  TempDir dir_;
};

TEST_F(Log, WritesTheRoleAndTheLevelOnEachLine) {
  start_logging("worker-3", dir_ / "log");
  spdlog::info("step {} done", 7);
  stop_logging();
  EXPECT_THAT(read_text(dir_ / "log"), HasSubstr(" worker-3 info: step 7 done\n"));
}

TEST_F(Log, LeavesOutWhatIsBelowItsLevel) {
  start_logging("chief", dir_ / "log", "warning");
  spdlog::info("small talk");
  spdlog::error("trouble");
  stop_logging();
  EXPECT_THAT(read_text(dir_ / "log"), AllOf(Not(HasSubstr("small talk")), HasSubstr("trouble")));
}

// A pipe that nobody empties stands for a disk that stalls.
TEST_F(Log, ADiskThatStallsStopsNobody) {
  const auto path = dir_ / "log";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  start_logging("chief", path);
  const std::string text(1000, 'x');
  for (int i = 0; i < 1000; ++i) spdlog::info("{}", text);
  std::thread ends([] { stop_logging(); });
  std::array<char, 65536> block;
  std::size_t read = 0;
  while (read < 1'000'000) {
    const ssize_t got = ::read(reader, block.data(), block.size());
    if (got > 0) read += static_cast<std::size_t>(got);
  }
  ends.join();
  ::close(reader);
}

TEST_F(Log, ThatCannotBeOpenedIsADataError) {
  EXPECT_THROW(start_logging("chief", dir_.path()), DataError);
}

TEST_F(Log, RefusesALevelThatDoesNotExist) {
  EXPECT_THROW(start_logging("chief", dir_ / "log", "inof"), ConfigError);
  start_logging("chief", dir_ / "log", "off");
  spdlog::critical("not even this");
  stop_logging();
  EXPECT_EQ(read_text(dir_ / "log"), "");
}

}  // namespace
}  // namespace paceline

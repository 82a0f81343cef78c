#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
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
  EXPECT_THAT(read_text(dir_ / "log"), HasSubstr(" worker-3 info: step 7 done\n"));
}

TEST_F(Log, LeavesOutWhatIsBelowItsLevel) {
  start_logging("chief", dir_ / "log", "warning");
  spdlog::info("small talk");
  spdlog::error("trouble");
  EXPECT_THAT(read_text(dir_ / "log"), AllOf(Not(HasSubstr("small talk")), HasSubstr("trouble")));
}

TEST_F(Log, ThatCannotBeOpenedIsADataError) {
  EXPECT_THROW(start_logging("chief", dir_.path()), DataError);
}

TEST_F(Log, RefusesALevelThatDoesNotExist) {
  EXPECT_THROW(start_logging("chief", dir_ / "log", "inof"), ConfigError);
  start_logging("chief", dir_ / "log", "off");
  spdlog::critical("not even this");
  EXPECT_EQ(read_text(dir_ / "log"), "");
}

}  // namespace
}  // namespace paceline

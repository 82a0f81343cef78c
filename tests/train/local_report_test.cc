#include "train/local_report.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

// Whose summary cannot be written.
class Deaf : public Reporter {
 public:
  void progress(const RunProgress&) override {}
  void epoch(const EpochResult&) override {}
  void notice(const std::string&) override {}
  void warning(const std::string&) override {}
  void summary(const nlohmann::json& summary) override {
    last = summary;
    throw DataError("cannot write the summary");
  }
  nlohmann::json last;
};

class LocalReportTest : public testing::Test {
 protected:
  LocalReportTest() { config_.run_dir = dir_.path(); }

  void end(const std::optional<Error>& error) {
    RunSpec spec;
    spec.config = config_;
    LocalReport report(spec, Grid{100, 10, 1}, reporter_);
    report.begun(0);
    report.summary(0, nlohmann::json::array(), error);
  }

  TempDir dir_;
  RunConfig config_;
  Deaf reporter_;
};

TEST_F(LocalReportTest, ASummaryThatCannotBeWrittenIsAnErrorOfARunThatHasNone) {
  EXPECT_THROW(end(std::nullopt), DataError);
  EXPECT_EQ(reporter_.last["status"], "complete");
  EXPECT_FALSE(reporter_.last.contains("error"));
}

// By its exit code, whatever it says.
TEST_F(LocalReportTest, ARunThatWasInterruptedHasNotFailed) {
  EXPECT_THROW(end(Interrupted("somebody asked")), DataError);
  EXPECT_EQ(reporter_.last["status"], "incomplete");
  EXPECT_EQ(reporter_.last["error"], "somebody asked");
}

TEST_F(LocalReportTest, ARunThatHasFailedEndsWithItsOwnError) {
  EXPECT_NO_THROW(end(Error("interrupted")));
  EXPECT_EQ(reporter_.last["status"], "incomplete");
  EXPECT_EQ(reporter_.last["error"], "interrupted");
}

}  // namespace
}  // namespace paceline

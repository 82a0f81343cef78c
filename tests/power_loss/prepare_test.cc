// Prepared reviews, which HDF5 writes, and what preparing keeps on the way.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "base/paths.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "data/prepared.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class PowerLossOfReviews : public testing::Test {
 protected:
  PowerLossOfReviews() {
    std::string text;
    Random random(6);
    for (int i = 0; i < 3000; ++i) {
      text += fmt::format("{{\"overall\": {}, \"reviewText\": \"", 1 + random.below(5));
      for (std::uint64_t words = 5 + random.below(20); words > 0; --words) {
        text += fmt::format("word{} ", random.below(1 + random.below(3000)));
      }
      text += "\"}\n";
    }
    write_atomically(dir_ / "reviews.json", text);
    fs::create_directory(disk());
  }
  fs::path disk() const { return dir_ / "disk"; }
  fs::path output() const { return disk() / "reviews.h5"; }
  Words prepare(const std::string& more = "--quiet") const {
    // clang-format off
    return {program_path(), "prepare", "reviews", dir_ / "reviews.json", "--output", output(),
            "--length", "20", "--threads", "2", "--test-share", "0.1", more};
    // clang-format on
  }

  TempDir dir_;
};

TEST_F(PowerLossOfReviews, AnOutputIsWholeOrNotThere) {
  const DiskLog log = record(disk(), prepare());
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::string whole = read_text(output());
  after_crashes(log, 300, disk(), [&](const Crash& crash) {
    if (fs::exists(output())) {
      EXPECT_TRUE(read_text(output()) == whole);
      EXPECT_NO_THROW(PreparedReviews(output()).labels(PreparedPart::kTrain));
    } else {
      EXPECT_FALSE(is_at_end(log, crash));
    }
  });
}

// With what is left of the work, or without it; never with what is half there.
TEST_F(PowerLossOfReviews, TheSameCommandComesToTheSameOutput) {
  const DiskLog log = record(disk(), prepare());
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::string whole = read_text(output());
  fs::create_directory(dir_ / "elsewhere");
  int refused = 0;
  after_crashes(log, 60, disk(), [&](const Crash&) {
    fs::remove(output());
    DiskLog next = record(dir_ / "elsewhere", prepare());
    if (next.exit_code != 0) {
      EXPECT_THAT(next.output, HasSubstr("--fresh"));
      ++refused;
      next = record(dir_ / "elsewhere", prepare("--fresh"));
    }
    ASSERT_EQ(next.exit_code, 0) << next.output;
    EXPECT_TRUE(read_text(output()) == whole);
  });
  EXPECT_LT(refused, 40);  // otherwise nothing was gone on with
}

}  // namespace
}  // namespace paceline

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
using testing::AllOf;
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

TEST_F(PowerLossOfReviews, AnOutputThatIsReplacedIsTheOldOneOrTheNewOne) {
  for (const char* format : {"hdf5", "tsv"}) {
    fs::remove_all(disk());
    fs::create_directory(disk());
    Words words = prepare();
    words.insert(words.end(), {"--format", format});
    Words earlier = words;
    earlier.insert(earlier.end(), {"--vocabulary", "100"});
    ASSERT_EQ(record(disk(), earlier).exit_code, 0);
    const std::string before = read_text(output());
    const DiskLog log = record(disk(), words);
    ASSERT_EQ(log.exit_code, 0) << log.output;
    const std::string whole = read_text(output());
    ASSERT_TRUE(whole != before);
    std::uint64_t kept = 0;
    after_crashes(log, 100, disk(), [&](const Crash& crash) {
      ASSERT_TRUE(fs::exists(output()));
      const std::string found = read_text(output());
      EXPECT_TRUE(found == whole || (found == before && !is_at_end(log, crash)));
      kept += found == before ? 1 : 0;
    });
    EXPECT_GT(kept, 10U) << format;  // otherwise nothing was put to the test
  }
}

// With what is left of the work, or without it; never with what is half there. A command refuses to
// go on when the report of a task is whole, and what it reports of is not: that cannot be when only
// what was synced is left, nor once all is over. Where it may be, about every third time it is.
TEST_F(PowerLossOfReviews, TheSameCommandComesToTheSameOutput) {
  const DiskLog log = record(disk(), prepare());
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::string whole = read_text(output());
  fs::create_directory(dir_ / "elsewhere");
  int refused = 0;
  int torn = 0;
  after_crashes(log, 60, disk(), [&](const Crash& crash) {
    const bool may_be_torn = crash.seed != 0 && !is_at_end(log, crash);
    torn += may_be_torn ? 1 : 0;
    fs::remove(output());
    DiskLog next = record(dir_ / "elsewhere", prepare());
    if (next.exit_code != 0) {
      EXPECT_TRUE(may_be_torn) << next.output;
      EXPECT_THAT(next.output, AllOf(HasSubstr("reviews.h5.work/"), HasSubstr("--fresh")));
      ++refused;
      next = record(dir_ / "elsewhere", prepare("--fresh"));
    }
    ASSERT_EQ(next.exit_code, 0) << next.output;
    EXPECT_TRUE(read_text(output()) == whole);
  });
  EXPECT_GT(refused, 0);
  EXPECT_LT(3 * refused, 2 * torn);
}

}  // namespace
}  // namespace paceline

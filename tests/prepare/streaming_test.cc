#include "prepare/streaming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

class StreamingTest : public testing::Test {
 protected:
  std::vector<InputFile> make(const std::string& text, ReviewFormat format) {
    write_atomically(dir_.path() / "in", text);
    settings_.format = format;
    return find_inputs({dir_.file("in")}, format, settings_.fields, false);
  }
  std::string mapped(const std::string& text) {
    std::ostringstream out;
    report_ = map_reviews(make(text, ReviewFormat::kAuto), settings_, false, out);
    return out.str();
  }
  std::string reduced(const std::string& text) {
    std::ostringstream out;
    report_ = reduce_reviews(make(text, ReviewFormat::kGrouped), settings_, false, out);
    return out.str();
  }

  TempDir dir_;
  PrepareSettings settings_;
  ReadReport report_;
};

TEST_F(StreamingTest, AMapperWritesTheCleanTextAndItsRating) {
  EXPECT_EQ(mapped("{\"overall\": 4.0, \"reviewText\": \"Good, isn't it?\"}\n"
                   "{\"stars\": 4.5, \"text\": \"tab\\there\"}\n"
                   "nonsense\n"
                   "{\"overall\": 9, \"reviewText\": \"x\"}\n"),
            "good isnt it\t4\n"
            "tab here\t4.5\n");
  std::ostringstream err;
  write_counters(report_, err);
  EXPECT_EQ(err.str(),
            "reporter:counter:paceline,reviews,4\n"
            "reporter:counter:paceline,not of the format,1\n"
            "reporter:counter:paceline,with a rating out of range,1\n");
}

TEST_F(StreamingTest, AReducerCountsTheRatingsOfEachText) {
  EXPECT_EQ(reduced("bad\t1\nbad\t2.5\nbad\t1\ngood\t5\n"), "bad\t1\t2\nbad\t2.5\t1\ngood\t5\t1\n");
  EXPECT_EQ(reduced("bad\t1\t2\nbad\t1\t3\nbad\t5\ngood\t5\t1\n"),
            "bad\t1\t5\nbad\t5\t1\ngood\t5\t1\n");
  EXPECT_EQ(report_.rows, 7U);
  EXPECT_EQ(reduced(""), "");
}

TEST_F(StreamingTest, AReducerLeavesOutWhatIsNoCount) {
  EXPECT_EQ(reduced("good\t5\tmany\ngood\t5\t0\ngood\t5\t2\n"), "good\t5\t2\n");
  EXPECT_EQ(report_.rejected[static_cast<std::size_t>(Reject::kMalformed)], 2U);
}

// The range is the mapper's to look at.
TEST_F(StreamingTest, AReducerTakesAnyRating) {
  EXPECT_EQ(reduced("good\t10\ngood\t0\n"), "good\t0\t1\ngood\t10\t1\n");
}

TEST_F(StreamingTest, SaysWhenNobodyTakesWhatItWrites) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(map_reviews(make("5\tgood\n", ReviewFormat::kTsv), settings_, false, out),
               DataError);
}

}  // namespace
}  // namespace paceline

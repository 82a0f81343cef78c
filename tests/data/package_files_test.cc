#include "data/package_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/data_error.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PackageFiles, ReviewsAreSplitIntoHalvesOfBothKinds) {
  const ReviewLines lines = split_reviews(R"([
    {"t": "bad 1", "s": 0}, {"t": "bad<br />2", "s": 0},
    {"t": "bad\t3", "s": 0}, {"t": "bad 1", "s": 0},
    {"t": "good 1", "s": 1}, {"t": "good 2", "s": 1},
    {"t": "good 3", "s": 1}, {"t": "good\n4", "s": 1}])");
  EXPECT_EQ(lines.test, "0\tbad 1\n0\tbad 2\n1\tgood 1\n1\tgood 2\n");
  EXPECT_EQ(lines.train, "0\tbad 3\n1\tgood 3\n1\tgood 4\n");  // and not "bad 1" again
}

TEST(PackageFiles, ReviewsThatCannotBeSplitAreRefused) {
  const std::string one = R"({"t": "x", "s": 1})";
  for (const std::string& json :
       {std::string("[]"), "[" + one + "]", "[" + one + "," + one + "," + one + "]",
        "[" + one + "," + one + "," + one + "," + one + "," + one + "]"}) {
    EXPECT_THAT(data_error_of([&] { split_reviews(json); }), HasSubstr("four parts")) << json;
  }
  for (const char* json : {"5", "{}", "", "null", "\"text\"", "[1, 2"}) {
    EXPECT_THAT(data_error_of([&] { split_reviews(json); }), HasSubstr("no JSON array")) << json;
  }
  for (const char* wrong :
       {"1", "{}", R"({"t": 1, "s": 1})", R"({"t": "x", "s": "1"})", R"({"t": "x", "s": 2})"}) {
    const std::string json = "[" + one + "," + one + "," + wrong + "," + one + "]";
    EXPECT_THAT(data_error_of([&] { split_reviews(json); }), HasSubstr("review 3")) << json;
  }
}

TEST(PackageFiles, LabelsAreNumbersOfClasses) {
  EXPECT_THAT(class_labels("[0, 9, 3]", 10), ElementsAre(0, 9, 3));
  for (const char* json : {"[10]", "[256]", "[-1]", "[1.5]", "[\"1\"]", "[[1]]"}) {
    EXPECT_THAT(data_error_of([&] { class_labels(json, 10); }), HasSubstr("label 1")) << json;
  }
  EXPECT_THAT(data_error_of([&] { class_labels("7", 10); }), HasSubstr("no JSON array"));
}

}  // namespace
}  // namespace paceline

#include "cli/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace paceline {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(DisplayWidth, CountsCharactersNotBytes) {
  EXPECT_EQ(display_width("850 µs"), 6U);
  EXPECT_EQ(display_width("━─"), 2U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(Shorten, CutsAtCharacters) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("longer", 5), "long…");
  EXPECT_EQ(shorten("µµµ", 2), "µ…");
  EXPECT_EQ(shorten("abc", 0), "");
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("extraordinary word", 5), ElementsAre("extraordinary", "word"));
}

TEST(FormatValue, ReadsTheUnitOffTheKey) {
  EXPECT_EQ(format_value("test_accuracy", 0.91934), "91.93 %");
  EXPECT_EQ(format_value("train_seconds", 1.2), "1.20 s");
  EXPECT_EQ(format_value("train_seconds", 2U), "2.00 s");
  EXPECT_EQ(format_value("examples_per_second", 412'345.0), "412.3 k/s");
  EXPECT_EQ(format_value("peak_rss_bytes", 12'345'678U), "12.3 MB");
  EXPECT_EQ(format_value("bytes_in", 999U), "999 B");
  EXPECT_EQ(format_value("examples", 600'000U), "600,000");
  EXPECT_EQ(format_value("train_loss", 0.27071), "0.2707");
  EXPECT_EQ(format_value("deterministic", true), "yes");
  EXPECT_EQ(format_value("test_accuracy", nullptr), "–");
  EXPECT_EQ(format_value("data", "mnist"), "mnist");
}

TEST(FormatValue, ShowsShapes) {
  EXPECT_EQ(format_value("shape", {10, 784}), "10 × 784");
}

TEST(FormatLoss, SaysWhenItIsNotFinite) {
  EXPECT_EQ(format_loss(0.25), "0.2500");
  EXPECT_EQ(format_loss(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(format_loss(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_value("train_loss", std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(FormatTable, AlignsNumbersToTheRightAndTextsToTheLeft) {
  EXPECT_EQ(format_table({{"a", "10 µs", "/a/path"}, {"longer", "1 s", "/b"}}, 80),
            "  a       10 µs  /a/path\n"
            "  longer    1 s  /b\n");
  EXPECT_EQ(format_table({}, 80), "");
}

TEST(FormatTable, GoesOnBelowWhenItIsTooWide) {
  const std::vector<std::vector<std::string>> rows = {{"role", "one", "two", "three"},
                                                      {"chief", "1", "22", "333"}};
  EXPECT_EQ(format_table(rows, 24),
            "  role   one  two  three\n"
            "  chief    1   22    333\n");
  EXPECT_EQ(format_table(rows, 23),
            "  role   one  two\n"
            "  chief    1   22\n"
            "\n"
            "  role   three\n"
            "  chief    333\n");
  EXPECT_EQ(format_table({{"a", "b"}}, 1), "  a  b\n");
}

TEST(FormatObject, PutsWhatMattersFirstAndTablesLast) {
  const json object = {{"workers", 2U},
                       {"zebra", "z"},
                       {"test_accuracy", 0.92},
                       {"roles",
                        {{{"bytes_out", 1U}, {"name", "chief"}, {"cpu_seconds", 0.5}},
                         {{"name", "server0"}, {"cpu_seconds", 1.5}}}}};
  EXPECT_EQ(format_object(object, 80),
            "  test accuracy  92.00 %\n"
            "  workers              2\n"
            "  zebra                z\n"
            "\n"
            "  roles       cpu  bytes out\n"
            "  chief    500 ms        1 B\n"
            "  server0  1.50 s\n");
}

TEST(FormatObject, LetsLongTextsNotPushTheNumbersAway) {
  const json object = {{"accuracy", 0.92}, {"data", "mnist/test"}, {"examples", 10'000U}};
  EXPECT_EQ(format_object(object, 80),
            "  accuracy  92.00 %\n"
            "  examples   10,000\n"
            "  data      mnist/test\n");
}

TEST(FormatObject, BreaksSentencesIntoLines) {
  EXPECT_EQ(format_object({{"unknown", "the data is not here"}, {"steps", 12U}}, 24),
            "  steps    12\n"
            "  unknown  the data is\n"
            "           not here\n");
}

TEST(FormatObject, TellsRowsWithoutNamesApartByTheirEpoch) {
  const json object = {{"epochs", {{{"test_accuracy", 0.5}, {"epoch", 1U}}}}};
  EXPECT_EQ(format_object(object, 80),
            "\n"
            "  epoch  test accuracy\n"
            "  1            50.00 %\n");
}

}  // namespace
}  // namespace paceline

#include "config/setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "config/testing.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

std::string integer_error(std::string_view text) {
  return message_of<ConfigError>([&] { parse_integer(text, 1, 100); });
}

TEST(ParseInteger, ReadsWholeNumbersUpToItsBounds) {
  EXPECT_EQ(parse_integer("1", 1, 100), 1U);
  EXPECT_EQ(parse_integer("100", 1, 100), 100U);
  EXPECT_EQ(parse_integer("9223372036854775807", 0, kLargestInteger), kLargestInteger);
}

TEST(ParseInteger, SaysWhatIsWrong) {
  EXPECT_EQ(integer_error("0"), "must be at least 1, not 0");
  EXPECT_EQ(integer_error("-3"), "must be at least 1, not -3");
  EXPECT_EQ(integer_error("101"), "must be at most 100, not 101");
  EXPECT_EQ(integer_error("99999999999999999999999"),
            "must be at most 100, not 99999999999999999999999");
  EXPECT_EQ(integer_error("ten"), "'ten' is not a whole number");
  EXPECT_EQ(integer_error("1.5"), "'1.5' is not a whole number");
  EXPECT_EQ(integer_error(""), "'' is not a whole number");
  EXPECT_EQ(integer_error("-"), "'-' is not a whole number");
}

TEST(ParseNumber, RefusesWhatIsNotFinite) {
  const auto error = [](std::string_view text) {
    return message_of<ConfigError>([&] { parse_number(text); });
  };
  EXPECT_EQ(error("nan"), "must be a finite number, not nan");
  EXPECT_EQ(error("inf"), "must be a finite number, not inf");
  EXPECT_EQ(error("1e999"), "1e999 is too large or too small a number");
  EXPECT_EQ(error("0.5x"), "'0.5x' is not a number");
  EXPECT_EQ(error(""), "'' is not a number");
}

TEST(FormatNumber, ReadsBackTheSameBits) {
  for (const double value :
       {0.1, 1.0 / 3, 1e-8, 5e-324, 0.999, 1e300, 12345678.9, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(parse_number(format_number(value)), value);
  }
}

TEST(FormatExactDuration, ReadsBackTheSame) {
  const Duration values[] = {0s, 1ns, 999ns, 100us, 999us, 1500us, 1ms, 250ms, 1500ms, 60s, 24h};
  for (const Duration value : values) {
    EXPECT_EQ(parse_duration(format_exact_duration(value)), value) << format_exact_duration(value);
  }
}

TEST(FormatExactDuration, OfAnyTextThatIsADurationReadsBackTheSame) {
  for (const char* text :
       {"1234567.123us", "0.001us", "987654.321987654s", "1099511.627775999s", "1099511.627776001s",
        "100000000.123456789s", "999999999.999999s", "277777.123456789h", "3333333.0333min"}) {
    const Duration value = parse_duration(text);
    EXPECT_EQ(parse_duration(format_exact_duration(value)), value) << text;
  }
}

TEST(FormatExactDuration, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(format_exact_duration(100us), "100us");
  EXPECT_EQ(format_exact_duration(250ms), "250ms");
  EXPECT_EQ(format_exact_duration(120s), "120s");
}

TEST(ParseDurationAtLeast, RefusesShorterTimes) {
  EXPECT_EQ(parse_duration_at_least("1ms", 1ms), Duration(1ms));
  EXPECT_EQ(message_of<ConfigError>([] { parse_duration_at_least("10us", 1ms); }),
            "must be at least 1ms, not 10us");
}

TEST(ParseDurationAtLeast, WantsAUnit) {
  EXPECT_EQ(message_of<ConfigError>([] { parse_duration_at_least("5", 1ms); }),
            "'5' has no unit: write 5s, 5ms or 5min");
  EXPECT_EQ(message_of<ConfigError>([] { parse_duration_at_least("1.5", 1ms); }),
            "'1.5' has no unit: write 1.5s, 1.5ms or 1.5min");
  EXPECT_EQ(parse_duration_at_least("0", 0ms), Duration(0ms));
  EXPECT_EQ(message_of<ConfigError>([] { parse_duration_at_least("", 0ms); }),
            "'' is not a duration such as 250ms, 2s or 5min");
}

TEST(ParseChoice, SuggestsTheNearestName) {
  const std::vector<std::string> modes = {"sync", "async", "ssp"};
  EXPECT_EQ(parse_choice("async", modes), 1U);
  EXPECT_EQ(message_of<ConfigError>([&] { parse_choice("asinc", modes); }),
            "'asinc' is not one of sync, async, ssp — did you mean 'async'?");
}

TEST(ParseBoolean, KnowsTrueAndFalseOnly) {
  EXPECT_TRUE(parse_boolean("true"));
  EXPECT_FALSE(parse_boolean("false"));
  EXPECT_EQ(message_of<ConfigError>([] { parse_boolean("yes"); }),
            "must be true or false, not 'yes'");
}

}  // namespace
}  // namespace paceline

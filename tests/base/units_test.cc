#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;

TEST(FormatBytes, KeepsThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(31'400), "31.4 kB");
  EXPECT_EQ(format_bytes(314'000), "314 kB");
  EXPECT_EQ(format_bytes(47'040'016), "47.0 MB");
  EXPECT_EQ(format_bytes(1'500'000'000), "1.50 GB");
}

TEST(FormatBytes, MovesToTheNextUnitWhenRoundingWould) {
  EXPECT_EQ(format_bytes(9'994), "9.99 kB");
  EXPECT_EQ(format_bytes(9'996), "10.0 kB");
  EXPECT_EQ(format_bytes(99'960), "100 kB");
  EXPECT_EQ(format_bytes(999'499), "999 kB");
  EXPECT_EQ(format_bytes(999'500), "1.00 MB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "18447 PB");
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(60'000), "60,000");
  EXPECT_EQ(format_count(123'456'789), "123,456,789");
}

TEST(FormatDuration, ChoosesTheUnit) {
  EXPECT_EQ(format_duration(0ns), "0 µs");
  EXPECT_EQ(format_duration(850us), "850 µs");
  EXPECT_EQ(format_duration(999'600ns), "1 ms");
  EXPECT_EQ(format_duration(250ms), "250 ms");
  EXPECT_EQ(format_duration(1200ms), "1.20 s");
  EXPECT_EQ(format_duration(12'340ms), "12.3 s");
  EXPECT_EQ(format_duration(59'600ms), "1 min 00 s");
  EXPECT_EQ(format_duration(185s), "3 min 05 s");
  EXPECT_EQ(format_duration(3599'700ms), "1 h 00 min");
  EXPECT_EQ(format_duration(26h + 3min), "26 h 03 min");
}

TEST(FormatRate, ChoosesTheUnit) {
  EXPECT_EQ(format_rate(0.25), "0.25 /s");
  EXPECT_EQ(format_rate(12.3), "12 /s");
  EXPECT_EQ(format_rate(9'400), "9400 /s");
  EXPECT_EQ(format_rate(31'400), "31.4 k/s");
  EXPECT_EQ(format_rate(1'230'000), "1.23 M/s");
}

TEST(ParseBytes, UnderstandsBothKindsOfUnits) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("17"), 17u);
  EXPECT_EQ(parse_bytes("300kB"), 300'000u);
  EXPECT_EQ(parse_bytes("512M"), 512'000'000u);
  EXPECT_EQ(parse_bytes("1.5 G"), 1'500'000'000u);
  EXPECT_EQ(parse_bytes("2KiB"), 2048u);
  EXPECT_EQ(parse_bytes("1GiB"), std::uint64_t{1} << 30);
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const auto* text : {"", "G", "-1", "1X", "1 G B", "nan", "inf", "1e30", "99999999T"}) {
    EXPECT_THROW(parse_bytes(text), ConfigError) << text;
  }
}

TEST(ParseDuration, UnderstandsItsUnits) {
  EXPECT_EQ(parse_duration("2"), 2s);
  EXPECT_EQ(parse_duration("40us"), 40us);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("5 min"), 5min);
  EXPECT_EQ(parse_duration("1h"), 1h);
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const auto* text : {"", "s", "-1s", "5 minutes", "inf", "1e12"}) {
    EXPECT_THROW(parse_duration(text), ConfigError) << text;
  }
}

}  // namespace
}  // namespace paceline

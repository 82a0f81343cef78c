#include "data/sparse/row_parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::uint32_t kBits = 20;
constexpr Key kConstant = Key{1} << kBits;

struct ParsedRow {
  float label = 0;
  std::map<Key, float> features;
  std::string wrong;
};

ParsedRow parsed_row(RowFormat format, std::string_view line,
                     RowTarget target = RowTarget::kClass) {
  RowBuffer rows;
  ParsedRow result;
  if (const char* wrong = RowParser({format, target, kBits}).parse(line, rows)) {
    EXPECT_TRUE(rows.words.empty() && rows.starts.empty()) << line;
    result.wrong = wrong;
    return result;
  }
  const RowView row = row_at(rows.words.data());
  result.label = row.label;
  for (std::size_t i = 0; i < row.keys.size(); ++i) result.features[row.keys[i]] += row.value(i);
  EXPECT_EQ(result.features[kConstant], 1.0F);
  result.features.erase(kConstant);
  return result;
}

TEST(LibsvmRows, HaveTheirIndicesAsKeys) {
  const ParsedRow row = parsed_row(RowFormat::kLibsvm, "+1 3:1 17:-0.25 1023:2e2 5:0  # a comment");
  EXPECT_EQ(row.label, 1);
  EXPECT_THAT(row.features,
              UnorderedElementsAre(Pair(3, 1.0F), Pair(17, -0.25F), Pair(1023, 200.0F)));
  EXPECT_EQ(parsed_row(RowFormat::kLibsvm, "-1 3:1").label, 0);
  EXPECT_TRUE(parsed_row(RowFormat::kLibsvm, "0").features.empty());
}

TEST(LibsvmRows, AKeyThatOccursTwiceHasTheSum) {
  RowBuffer rows;
  ASSERT_EQ(RowParser({RowFormat::kLibsvm, RowTarget::kClass, kBits})
                .parse("1 5:1 3:0.5 5:2 3:-0.5", rows),
            nullptr);
  const RowView row = row_at(rows.words.data());
  EXPECT_THAT(row.keys, ElementsAre(5, kConstant));
  EXPECT_THAT(row.values, ElementsAre(3.0F));
}

TEST(LibsvmRows, NumbersAreReadAsTheyAreWritten) {
  for (const char* text : {"0.1", "-7.125", "123456.75", "1e-3", "3.4e17", "0.000000000000001",
                           ".5", "5.", "123456789012345678901234567890e-20"}) {
    const ParsedRow row = parsed_row(RowFormat::kLibsvm, std::string("1 7:") + text);
    EXPECT_FLOAT_EQ(row.features.at(7), std::stof(text)) << text;
  }
}

// Digits are read eight at a time where so many characters are left: every length, every place.
TEST(LibsvmRows, IndicesAndValuesOfAnyLengthAreRead) {
  Random random(7);
  for (std::uint64_t whole = 0; whole <= 12; ++whole) {
    for (std::uint64_t part = 0; part <= 12; ++part) {
      if (whole + part == 0) continue;
      std::string value;
      for (std::uint64_t i = 0; i < whole; ++i) value += static_cast<char>('0' + random.below(10));
      if (part > 0) value += '.';
      for (std::uint64_t i = 0; i < part; ++i) value += static_cast<char>('0' + random.below(10));
      for (const std::string behind : {"", " ", " 1048575:7", "\t900012:0.5 900014:1 999999:2"}) {
        const std::string line = "1 0" + std::to_string(whole * 1000 + part) + ":" + value + behind;
        const ParsedRow row = parsed_row(RowFormat::kLibsvm, line);
        ASSERT_EQ(row.wrong, "") << line;
        const auto found = row.features.find(static_cast<Key>(whole * 1000 + part));
        const float read = found == row.features.end() ? 0 : found->second;
        EXPECT_FLOAT_EQ(read, std::stof(value)) << line;
      }
    }
  }
}

TEST(LibsvmRows, CharactersNextToDigitsAreNone) {
  for (const char* line : {"1 12/34:1", "1 12;:1", "1 12\x80 5678:1", "1 1234567\xFF:1 99999999:1",
                           "1 7:1/2 123456:1", "1 7:1\xB0 123456:1"}) {
    EXPECT_NE(parsed_row(RowFormat::kLibsvm, line).wrong, "") << line;
  }
}

TEST(VwRows, WithAWordTwiceHaveItsSumWhereverItStands) {
  for (const std::size_t words : {3U, 40U, 700U}) {
    for (const std::size_t again : {std::size_t{0}, words / 2, words - 1}) {
      std::string line = "1 |";
      for (std::size_t i = 0; i < words; ++i) line += fmt::format(" w{}", i);
      line += fmt::format(" w{}:2.5", again);
      const ParsedRow row = parsed_row(RowFormat::kVw, line);
      ASSERT_EQ(row.wrong, "");
      const ParsedRow alone = parsed_row(RowFormat::kVw, fmt::format("1 | w{}", again));
      EXPECT_EQ(row.features.at(alone.features.begin()->first), 3.5F) << line;
    }
  }
}

TEST(LibsvmRows, ThatAreNoneAreNamed) {
  const std::map<std::string, std::string> wrong = {
      {"", "label"},
      {"x 1:1", "label"},
      {"3 1:1", "none of 0, 1 and -1"},
      {"1 1", "INDEX:VALUE"},
      {"1 a:1", "INDEX:VALUE"},
      {"1 -3:1", "INDEX:VALUE"},
      {"1 1:", "behind ':'"},
      {"1 1:x", "behind ':'"},
      {"1 1:+-5", "behind ':'"},
      {"1 1:1x", "behind ':'"},
      {"1 1048576:1", "--bits"},
      {"1 99999999999999999999:1", "INDEX:VALUE"},
      {"1 1:nan", "not finite"},
      {"1 1:-inf", "not finite"},
      {"1 1:1e999", "not finite"},
      {"1 1:1e30", "larger than 1e18"},
      {"1 1:9e17 2:1 1:9e17", "larger than 1e18"},
  };
  for (const auto& [line, words] : wrong) {
    EXPECT_THAT(parsed_row(RowFormat::kLibsvm, line).wrong, HasSubstr(words)) << line;
  }
}

TEST(LibsvmRows, LabelsMayBeNumbers) {
  EXPECT_EQ(parsed_row(RowFormat::kLibsvm, "-3.5 1:1", RowTarget::kNumber).label, -3.5F);
}

std::string criteo_line(const std::string& first_number, const std::string& first_word) {
  std::string line = "1\t" + first_number;
  for (int i = 1; i < 13; ++i) line += "\t" + std::to_string(i);
  line += "\t" + first_word;
  for (int i = 1; i < 26; ++i) line += "\t68fd1e64";
  return line;
}

TEST(CriteoRows, HaveCompressedNumbersAndHashedWords) {
  const ParsedRow row = parsed_row(RowFormat::kCriteo, criteo_line("100", "05db9164"));
  EXPECT_EQ(row.label, 1);
  float sum = 0;
  for (const auto& [key, value] : row.features) {
    EXPECT_LT(key, kConstant);
    sum += value;
  }
  float expected = 26 + std::log1p(100.0F);
  for (int i = 1; i < 13; ++i) expected += std::log1p(static_cast<float>(i));
  EXPECT_NEAR(sum, expected, 1e-4);
}

TEST(CriteoRows, TheSameWordInTwoColumnsIsTwoFeatures) {
  EXPECT_GT(parsed_row(RowFormat::kCriteo, criteo_line("1", "68fd1e64")).features.size(), 30U);
}

TEST(CriteoRows, MayLackFields) {
  const auto all = parsed_row(RowFormat::kCriteo, criteo_line("1", "a")).features;
  const auto some = parsed_row(RowFormat::kCriteo, criteo_line("", "")).features;
  EXPECT_EQ(some.size() + 2, all.size());
}

// What is too small for any float is nothing.
TEST(LibsvmRows, HaveNoFeaturesOfZero) {
  EXPECT_TRUE(parsed_row(RowFormat::kLibsvm, "1 1:1e-999 2:0 3:-0.0").features.empty());
}

TEST(CriteoRows, ThatAreNoneAreNamed) {
  EXPECT_THAT(parsed_row(RowFormat::kCriteo, "1\t2").wrong, HasSubstr("40 columns"));
  EXPECT_THAT(parsed_row(RowFormat::kCriteo, "1 3:1 5:2").wrong, HasSubstr("40 columns"));
  EXPECT_THAT(parsed_row(RowFormat::kCriteo, criteo_line("1", "a") + "\tmore").wrong,
              HasSubstr("40 columns"));
  EXPECT_THAT(parsed_row(RowFormat::kCriteo, criteo_line("x", "a")).wrong, HasSubstr("no number"));
  EXPECT_THAT(parsed_row(RowFormat::kCriteo, criteo_line("1e30", "a")).wrong, HasSubstr("1e18"));
}

TEST(VwRows, HaveNamespaces) {
  const auto plain = parsed_row(RowFormat::kVw, "1 | price:2.5 red").features;
  EXPECT_EQ(plain.size(), 2U);
  const auto named = parsed_row(RowFormat::kVw, "1 'tag|car price:2.5 red").features;
  EXPECT_EQ(named.size(), 2U);
  EXPECT_NE(plain, named);
  const auto scaled = parsed_row(RowFormat::kVw, "1 |car:2 price:2.5 red").features;
  for (const auto& [key, value] : named) EXPECT_FLOAT_EQ(scaled.at(key), 2 * value);
  EXPECT_EQ(parsed_row(RowFormat::kVw, "-1 |a x y |b x y").features.size(), 4U);
  EXPECT_EQ(parsed_row(RowFormat::kVw, "-1 1.0 |a x").label, 0);
}

TEST(VwRows, ThatAreNoneAreNamed) {
  EXPECT_THAT(parsed_row(RowFormat::kVw, "1 x y").wrong, HasSubstr("'|'"));
  EXPECT_THAT(parsed_row(RowFormat::kVw, "|a x").wrong, HasSubstr("label"));
  EXPECT_THAT(parsed_row(RowFormat::kVw, "1 2.5 |a x").wrong, HasSubstr("weights"));
  EXPECT_THAT(parsed_row(RowFormat::kVw, "1 |a x:z").wrong, HasSubstr("behind ':'"));
  EXPECT_THAT(parsed_row(RowFormat::kVw, "1 |a x:inf").wrong, HasSubstr("finite"));
}

TEST(Format, IsGuessedFromALine) {
  EXPECT_EQ(guess_format("1 3:1 5:2"), RowFormat::kLibsvm);
  EXPECT_EQ(guess_format("1 |a x"), RowFormat::kVw);
  EXPECT_EQ(guess_format(criteo_line("1", "a")), RowFormat::kCriteo);
  EXPECT_EQ(guess_format("a,b,c"), RowFormat::kAuto);
  EXPECT_EQ(guess_format("1,2,3"), RowFormat::kAuto);
}

// Whatever is in a line, a row comes out whole or not at all.
TEST(Rows, AnyLineIsARowOrRefused) {
  Random random(7);
  const std::vector<std::string> seeds = {"1 3:1 17:-0.25 1023:2e2", criteo_line("5", "0a1b2c3d"),
                                          "-1 |car:2 price:2.5 red |b x"};
  for (int round = 0; round < 20'000; ++round) {
    std::string line = seeds[random.below(seeds.size())];
    for (std::uint64_t i = 0; i < 1 + random.below(4); ++i) {
      const std::size_t at = random.below(line.size());
      if (random.below(2) == 0) {
        line[at] = static_cast<char>(random.bits());
      } else {
        line.insert(at, line.substr(random.below(line.size()), random.below(20)));
      }
    }
    for (const RowFormat format : {RowFormat::kLibsvm, RowFormat::kCriteo, RowFormat::kVw}) {
      RowBuffer rows;
      if (RowParser({format, RowTarget::kClass, kBits}).parse(line, rows) != nullptr) continue;
      ASSERT_EQ(rows.starts.size(), 1U);
      const RowView row = row_at(rows.words.data());
      ASSERT_EQ(row_words(row.keys.size(), row.values.size()), rows.words.size());
      for (const Key key : row.keys) ASSERT_LE(key, kConstant);
      for (const float value : row.values) ASSERT_LE(std::abs(value), kLargestValue);
    }
  }
}

}  // namespace
}  // namespace paceline

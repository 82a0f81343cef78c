#include "prepare/line_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::ElementsAre;

class LineReaderTest : public testing::Test {
 protected:
  InputFile file_of(const std::string& text, ReviewFormat format = ReviewFormat::kTsv) {
    const std::filesystem::path path = dir_.path() / "lines";
    write_atomically(path, text);
    InputFile file;
    file.path = path;
    file.bytes = text.size();
    file.format = format;
    return file;
  }

  static std::vector<std::string> lines_of(const InputFile& file, const Portion& portion) {
    LineReader reader(file, portion);
    std::vector<std::string> lines;
    while (const auto line = reader.next()) lines.emplace_back(*line);
    return lines;
  }

  TempDir dir_;
};

TEST_F(LineReaderTest, GivesLinesWithoutTheirEndsAndNoBlankOnes) {
  const InputFile file = file_of("one\r\n\n  \ntwo\nthree");
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("one", "two", "three"));
  const InputFile empty = file_of("");
  EXPECT_TRUE(lines_of(empty, {0, 0, 0}).empty());
}

TEST_F(LineReaderTest, LeavesOutTheNamesOfColumnsAndAByteOrderMark) {
  InputFile file = file_of("\xEF\xBB\xBFtext,stars\nfine,5\n", ReviewFormat::kCsv);
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("text,stars", "fine,5"));
  file.header = true;
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("fine,5"));
  file = file_of("\n \ntext\tstars\nfine\t5\n");
  file.header = true;
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("fine\t5"));
  EXPECT_THAT(lines_of(file, {0, 5, file.bytes}), ElementsAre("fine\t5"));
}

// What is behind it is not lost.
TEST_F(LineReaderTest, AQuoteThatIsNeverClosedIsThatOfOneLine) {
  std::string text = "5,\"a\nb\"\n1,\"open\n";
  for (int i = 0; i < 1000; ++i) text += "5,fine\n";
  const InputFile open = file_of(text, ReviewFormat::kCsv);
  const auto lines = lines_of(open, {0, 0, open.bytes});
  ASSERT_EQ(lines.size(), 1002U);
  EXPECT_EQ(lines[0], "5,\"a\nb\"");
  EXPECT_EQ(lines[1], "1,\"open");
  std::string huge = "1,\"open\n";
  while (huge.size() < 3 * LineReader::kMostLineBytes) huge += "5,what others have said of it\n";
  const InputFile file = file_of(huge + "5,\"a\nb\"\n", ReviewFormat::kCsv);
  const auto all = lines_of(file, {0, 0, file.bytes});
  EXPECT_EQ(all.size(), 2 + (huge.size() - 8) / 30);
  EXPECT_EQ(all.back(), "5,\"a\nb\"");
}

// Also when the next quote comes behind the longest line, and when the buffer ends with the file.
TEST_F(LineReaderTest, AQuoteThatIsClosedTooLateIsThatOfOneLine) {
  const std::string line = "5,what others have said of it\n";
  std::string text = "1,\"open\n";
  while (text.size() < LineReader::kMostLineBytes + 1'000'000) text += line;
  const InputFile late = file_of(text + "5,\"closed\"\n" + line, ReviewFormat::kCsv);
  EXPECT_EQ(lines_of(late, {0, 0, late.bytes}).size(), 3 + (text.size() - 8) / line.size());
  constexpr std::size_t kBuffer = std::size_t{1} << 20;
  std::string whole = "1,\"open\n";
  while (whole.size() + line.size() <= kBuffer) whole += line;
  const std::size_t lines = 1 + (whole.size() - 8) / line.size();
  whole.append(kBuffer - whole.size(), '\n');
  const InputFile exact = file_of(whole, ReviewFormat::kCsv);
  EXPECT_EQ(lines_of(exact, {0, 0, exact.bytes}).size(), lines);
}

TEST_F(LineReaderTest, AfterALongLineTheNextOnesAreThere) {
  const std::string text =
      "5," + std::string(LineReader::kMostLineBytes, 'x') + "\n5,fine\n5,good\n";
  for (const ReviewFormat format : {ReviewFormat::kCsv, ReviewFormat::kTsv}) {
    const InputFile file = file_of(text, format);
    EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("5,fine", "5,good"));
  }
}

TEST_F(LineReaderTest, AMarkBeforeAQuoteIsNoPartOfTheColumn) {
  const InputFile file = file_of("\xEF\xBB\xBF\"good\nbook\",5\n", ReviewFormat::kCsv);
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("\"good\nbook\",5"));
}

TEST_F(LineReaderTest, EveryLineIsInOnePortion) {
  std::string text;
  std::vector<std::string> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(fmt::format("line {}{}", i, std::string(static_cast<std::size_t>(i % 7), 'x')));
    text += all.back() + "\n";
  }
  const InputFile file = file_of(text);
  for (std::uint64_t bytes = 1; bytes < 60; ++bytes) {
    std::vector<std::string> found;
    for (const Portion& portion : cut_into_portions({file}, bytes)) {
      for (std::string& line : lines_of(file, portion)) found.push_back(std::move(line));
    }
    EXPECT_EQ(found, all) << "portions of " << bytes;
  }
}

TEST_F(LineReaderTest, LinesLongerThanTheBufferAreWhole) {
  const std::string large(3'000'000, 'y');
  const InputFile file = file_of("a\n" + large + "\nb\n");
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}), ElementsAre("a", large, "b"));
}

TEST_F(LineReaderTest, LinesThatAreTooLongAreLeftOutAndCounted) {
  const InputFile file =
      file_of("a\n" + std::string(10'000'000, 'z') + "\nb\n" + std::string(9'000'000, 'z'));
  LineReader reader(file, {0, 0, file.bytes});
  EXPECT_EQ(*reader.next(), "a");
  EXPECT_EQ(*reader.next(), "b");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.too_long(), 2U);
}

// Also where it ends in another portion than it begins in, or spans several.
TEST_F(LineReaderTest, ALineThatIsTooLongIsInOnePortion) {
  const InputFile file =
      file_of("a\n" + std::string(20'000'000, 'z') + "\nb\nc\n" + std::string(1000, 'd') + "\n");
  for (const std::uint64_t bytes : {3'000'000U, 9'000'000U, 19'999'990U, 20'000'005U}) {
    std::vector<std::string> lines;
    std::uint64_t too_long = 0;
    for (std::uint64_t begin = 0; begin < file.bytes; begin += bytes) {
      LineReader reader(file, {0, begin, std::min(begin + bytes, file.bytes)});
      while (const auto line = reader.next()) lines.emplace_back(*line);
      too_long += reader.too_long();
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"a", "b", "c", std::string(1000, 'd')})) << bytes;
    EXPECT_EQ(too_long, 1U) << bytes;
  }
}

TEST_F(LineReaderTest, QuotedLineEndsDoNotEndALineOfCsv) {
  const InputFile file =
      file_of("1,\"two\nlines\"\n2,\"a \"\"q\"\"\n\nb\"\n3,x\n", ReviewFormat::kCsv);
  EXPECT_THAT(lines_of(file, {0, 0, file.bytes}),
              ElementsAre("1,\"two\nlines\"", "2,\"a \"\"q\"\"\n\nb\"", "3,x"));
}

TEST_F(LineReaderTest, AMissingFileIsNamed) {
  InputFile file;
  file.path = dir_.path() / "nothing";
  EXPECT_THROW(LineReader(file, {0, 0, 1}), DataError);
}

}  // namespace
}  // namespace paceline

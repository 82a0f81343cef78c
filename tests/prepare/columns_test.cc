#include "prepare/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

using testing::ElementsAre;

std::vector<std::string> columns_of(std::string_view line,
                                    Columns::Kind kind = Columns::Kind::kCsv) {
  Columns columns(kind);
  std::vector<std::string> found;
  for (columns.begin(line); columns.more();) found.emplace_back(columns.next());
  return found;
}

TEST(ColumnsTest, AreSplitAtSeparatorsOutsideOfQuotes) {
  EXPECT_THAT(columns_of("5,fine"), ElementsAre("5", "fine"));
  EXPECT_THAT(columns_of("5,,"), ElementsAre("5", "", ""));
  EXPECT_THAT(columns_of(""), ElementsAre(""));
  EXPECT_THAT(columns_of("\"a, b\",\"\",\"say \"\"so\"\"\"\"\""),
              ElementsAre("a, b", "", "say \"so\"\""));
  EXPECT_THAT(columns_of("\"closed\" and more,x"), ElementsAre("closed and more", "x"));
  EXPECT_THAT(columns_of("5\t\"fine\"", Columns::Kind::kTsv), ElementsAre("5", "\"fine\""));
}

TEST(ColumnsTest, AQuoteInsideOfAColumnOpensNothing) {
  EXPECT_THAT(columns_of("5,a 12\" pan,x"), ElementsAre("5", "a 12\" pan", "x"));
}

TEST(ColumnsTest, AnOpenQuoteIsTold) {
  Columns columns(Columns::Kind::kCsv);
  columns.begin("5,\"fine");
  columns.next();
  EXPECT_FALSE(columns.open_quote());
  EXPECT_EQ(columns.next(), "fine");
  EXPECT_TRUE(columns.open_quote());
  EXPECT_FALSE(columns.more());
}

TEST(ColumnsTest, LinesEndOutsideOfQuotes) {
  EXPECT_EQ(end_of_csv_line("5,fine\nnext"), 6U);
  EXPECT_EQ(end_of_csv_line("5,fine"), 6U);
  EXPECT_EQ(end_of_csv_line(""), 0U);
  EXPECT_EQ(end_of_csv_line("5,\"a\nb\",x\n6"), 9U);
  EXPECT_EQ(end_of_csv_line("\"a\n\",\"b\n\"\"\n\"\n"), 12U);
  EXPECT_EQ(end_of_csv_line("5,\"a\nb\""), 7U);
  EXPECT_EQ(end_of_csv_line("5,12\" pan\n6,\"x\"\n"), 9U);
  EXPECT_EQ(end_of_csv_line("5,\"a\nb,c\n"), std::string_view::npos);
}

}  // namespace
}  // namespace paceline

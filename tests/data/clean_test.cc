#include "data/clean.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

std::string cleaned(std::string_view text) {
  std::string out;
  append_clean(text, out);
  return out;
}

TEST(CleanText, HasSmallLettersAndSingleBlanks) {
  EXPECT_EQ(cleaned("  Great PRODUCT!!  5/5,\twould buy\nagain. "),
            "great product 5 5 would buy again");
  EXPECT_EQ(cleaned(""), "");
  EXPECT_EQ(cleaned(" .,;- "), "");
  EXPECT_EQ(cleaned("a"), "a");
}

TEST(CleanText, DropsApostrophesInsideWords) {
  EXPECT_EQ(cleaned("Don't 'quote' it\u2019s"), "dont quote its");
  EXPECT_EQ(cleaned("rock 'n' roll"), "rock n roll");
}

TEST(CleanText, KnowsLettersOfAllScripts) {
  EXPECT_EQ(cleaned("Ünïted ÉCOLE"), "ünïted école");
  EXPECT_EQ(cleaned("ΑΒΓ Привет 東京 ١٢"), "αβγ привет 東京 ١٢");
  EXPECT_EQ(cleaned("“smart” – quotes… 😀 ok"), "smart quotes ok");
  EXPECT_EQ(cleaned("ȺȾ"), "ⱥⱦ");  // longer as small letters
}

TEST(CleanText, CountsBytesThatAreNotUtf8) {
  std::string out = "x ";
  EXPECT_EQ(append_clean("caf\xE9 ol\xE9! \xF0\x9F end", out), 4U);
  EXPECT_EQ(out, "x caf ol end");
}

}  // namespace
}  // namespace paceline

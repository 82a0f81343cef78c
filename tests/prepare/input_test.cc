#include "prepare/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::HasSubstr;

class InputTest : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& text) {
    write_atomically(dir_.path() / name, text);
    return (dir_.path() / name).string();
  }
  InputFile one(const std::string& text, const ReviewFields& fields = {}) {
    return find_inputs({make("file", text)}, ReviewFormat::kAuto, fields, false).at(0);
  }
  TempDir dir_;
};

TEST_F(InputTest, FilesAreSortedAndNoneIsTwice) {
  const std::string b = make("b.json", "{}\n");
  const std::string a = make("a.json", "{}\n");
  const auto files = find_inputs({b, dir_.path().string(), a}, ReviewFormat::kAuto, {}, false);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, a);
  EXPECT_EQ(files[1].path, b);
  EXPECT_THROW(find_inputs({(dir_.path() / "none*").string()}, ReviewFormat::kAuto, {}, false),
               DataError);
}

TEST_F(InputTest, FormatsAreGuessedFromTheFirstLine) {
  EXPECT_EQ(one("\n {\"text\":1}\n").format, ReviewFormat::kJson);
  EXPECT_EQ(one("5\tfine\n").format, ReviewFormat::kTsv);
  EXPECT_EQ(one("5,fine\n").format, ReviewFormat::kCsv);
  EXPECT_EQ(one("").format, ReviewFormat::kJson);
  EXPECT_EQ(one("\xEF\xBB\xBF{\"text\":1}\n").format, ReviewFormat::kJson);
}

TEST_F(InputTest, ColumnsAreFoundByNameOrNumber) {
  const InputFile named = one("id,\"stars\",text\n1,5,fine\n");
  EXPECT_TRUE(named.header);
  EXPECT_EQ(named.text_column, 2U);
  EXPECT_EQ(named.rating_column, 1U);
  EXPECT_TRUE(one("\xEF\xBB\xBFtext,stars\nfine,5\n").header);
  const InputFile usual = one("5\tfine\n");
  EXPECT_FALSE(usual.header);
  EXPECT_EQ(usual.text_column, 1U);
  const InputFile numbered = one("x\tfine\t5\n", {"2", "3"});
  EXPECT_FALSE(numbered.header);
  EXPECT_EQ(numbered.text_column, 1U);
  EXPECT_EQ(numbered.rating_column, 2U);
  EXPECT_THROW(one("5\tfine\n", {"body", "stars"}), DataError);
}

TEST_F(InputTest, EachColumnIsFoundByItself) {
  const InputFile mixed = one("id,Rating,\"Review, long\"\n1,5,fine\n", {"3", "Rating"});
  EXPECT_TRUE(mixed.header);
  EXPECT_EQ(mixed.text_column, 2U);
  EXPECT_EQ(mixed.rating_column, 1U);
  const InputFile quoted = one("\"Title, long\",reviewText,overall\nx,fine,5\n");
  EXPECT_EQ(quoted.text_column, 1U);
  EXPECT_EQ(quoted.rating_column, 2U);
  const InputFile rating = one("rating,title,text\n5,x,fine\n");
  EXPECT_EQ(rating.text_column, 2U);
  EXPECT_EQ(rating.rating_column, 0U);
}

// What stands in the first line may look like one of the numbers.
TEST_F(InputTest, NumbersAreNoNames) {
  for (const char* first : {"1", "2", "3"}) {
    const InputFile file = one(std::string(first) + ",fine\n5,good\n", {"2", "1"});
    EXPECT_FALSE(file.header);
    EXPECT_EQ(file.text_column, 1U);
    EXPECT_EQ(file.rating_column, 0U);
  }
}

TEST_F(InputTest, NamesMayHoldLineEnds) {
  const InputFile file = one("\"Review\nTitle\",rating,text\nx,5,fine\n");
  EXPECT_TRUE(file.header);
  EXPECT_EQ(file.rating_column, 1U);
  EXPECT_EQ(file.text_column, 2U);
}

// Of columns with names nothing is guessed.
TEST_F(InputTest, NamesThatAreNotKnownAreAskedFor) {
  const auto sentence = [this](const std::string& text, const ReviewFields& fields) {
    try {
      one(text, fields);
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string text = "id,Rating,Review Text\n1,5,fine\n";
  EXPECT_THAT(sentence(text, {}), HasSubstr("id, Rating, Review Text"));
  EXPECT_THAT(sentence(text, {"Review Text", ""}), HasSubstr("--rating-field"));
  EXPECT_THAT(sentence(text, {"", "Rating"}), HasSubstr("--text-field"));
  EXPECT_THAT(sentence("note,stars\nfine,5\n", {}), HasSubstr("is the text?"));
  EXPECT_EQ(sentence(text, {"Review Text", "Rating"}), "nothing");
  EXPECT_EQ(sentence(text, {"3", "2"}), "nothing");
}

TEST_F(InputTest, TheSameFileCountsOnceWhateverItIsCalled) {
  const std::string file = make("a.json", "{}\n");
  std::filesystem::create_symlink(file, dir_ / "b.json");
  EXPECT_EQ(find_inputs({dir_.path().string()}, ReviewFormat::kAuto, {}, false).size(), 1U);
}

TEST_F(InputTest, TheOutputIsNoInputUnlessItIsNamed) {
  const std::string file = make("a.json", "{}\n");
  const std::string output = make("out.h5", "anything");
  const auto count = [&](const std::vector<std::string>& names) {
    return find_inputs(names, ReviewFormat::kJson, {}, false, output).size();
  };
  EXPECT_EQ(count({dir_.path().string()}), 1U);
  EXPECT_EQ(count({output, file}), 2U);
}

TEST_F(InputTest, WhatIsNoRegularFileIsRefused) {
  const std::string pipe = dir_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(find_inputs({pipe}, ReviewFormat::kAuto, {}, false), DataError);
}

TEST_F(InputTest, PortionsCoverTheFile) {
  InputFile file;
  file.bytes = 25;
  const auto portions = cut_into_portions({file, file}, 10);
  ASSERT_EQ(portions.size(), 6U);
  EXPECT_EQ(portions[2].begin, 20U);
  EXPECT_EQ(portions[2].end, 25U);
  EXPECT_EQ(portions[3].file, 1U);
  file.compressed = true;
  EXPECT_EQ(cut_into_portions({file}, 10).size(), 1U);
}

}  // namespace
}  // namespace paceline

#include "prepare/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

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

#include "data/sparse/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class FilesOf : public testing::Test {
 protected:
  FilesOf() {
    for (const char* folder : {"days/more", "days.work"}) {
      fs::create_directories(dir_.path() / folder);
    }
    for (const char* name : {"days/b", "days/a", "days/.a.crc", "days/_SUCCESS", "days/a.rows",
                             "days/more/c", "days.work/run", "days-0", "days.h5.partial"}) {
      write_atomically(dir_.path() / name, "1 1:1\n");
    }
  }
  std::vector<std::string> names(const std::string& pattern) {
    std::vector<std::string> names;
    for (const fs::path& file : files_of(dir_.file(pattern))) {
      names.push_back(file.lexically_relative(dir_.path()).string());
    }
    return names;
  }
  TempDir dir_;
};

TEST_F(FilesOf, AFolderAreThoseInItButForWhatIsKeptBeside) {
  EXPECT_THAT(names("days"), ElementsAre("days/a", "days/b"));
  EXPECT_THAT(names("days/a"), ElementsAre("days/a"));
}

TEST_F(FilesOf, APatternAreTheFilesAndThoseOfTheFoldersThatMatch) {
  EXPECT_THAT(names("days*"), ElementsAre("days/a", "days/b", "days-0"));
  EXPECT_THAT(names("days/{more,b,a}"), ElementsAre("days/a", "days/b", "days/more/c"));
}

TEST_F(FilesOf, ThatAreNoneAreRefused) {
  fs::create_directory(dir_.path() / "empty");
  for (const char* pattern : {"empty", "empt?", "none", "no*"}) {
    EXPECT_THROW(names(pattern), DataError);
  }
}

}  // namespace
}  // namespace paceline

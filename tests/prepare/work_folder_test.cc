#include "prepare/work_folder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(WorkFolder, IsFoundAgainAndRemembersWhatWasChosen) {
  TempDir dir;
  {
    WorkFolder folder(dir.path() / "w", {{"a", 1}}, false);
    EXPECT_FALSE(folder.resumed());
    EXPECT_EQ(folder.chosen("tasks", 8), 8U);
    write_atomically(folder / "result", "x");
  }
  {
    WorkFolder folder(dir.path() / "w", {{"a", 1}}, false);
    EXPECT_TRUE(folder.resumed());
    EXPECT_EQ(folder.chosen("tasks", 99), 8U);
    EXPECT_TRUE(std::filesystem::exists(folder / "result"));
  }
  EXPECT_THROW(WorkFolder(dir.path() / "w", {{"a", 2}}, false), DataError);
  WorkFolder fresh(dir.path() / "w", {{"a", 2}}, true);
  EXPECT_FALSE(fresh.resumed());
  EXPECT_FALSE(std::filesystem::exists(fresh / "result"));
  fresh.remove();
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "w"));
}

TEST(WorkFolder, IsForOneAtATime) {
  TempDir dir;
  const WorkFolder folder(dir.path() / "w", {}, false);
  EXPECT_THROW(WorkFolder(dir.path() / "w", {}, false), DataError);
}

}  // namespace
}  // namespace paceline

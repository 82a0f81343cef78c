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

TEST(WorkFolder, IsNotMadeOfWhatIsSomebodyElses) {
  TempDir dir;
  write_atomically(dir.path() / "thesis.txt", "years of work");
  EXPECT_THROW(WorkFolder(dir.path(), {}, false), DataError);
  EXPECT_THROW(WorkFolder(dir.path(), {}, true), DataError);
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "thesis.txt"));
}

TEST(WorkFolder, MayKeepSome) {
  TempDir dir;
  WorkFolder folder(dir.path() / "w", {}, false);
  for (const char* name : {"read-1", "read-2", "group-1"}) write_atomically(folder / name, "x");
  folder.keep_only("read-");
  EXPECT_TRUE(std::filesystem::exists(folder / "read-1"));
  EXPECT_TRUE(std::filesystem::exists(folder / "manifest.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "group-1"));
}

TEST(WorkFolder, IsForOneAtATime) {
  TempDir dir;
  const WorkFolder folder(dir.path() / "w", {}, false);
  EXPECT_THROW(WorkFolder(dir.path() / "w", {}, false), DataError);
}

}  // namespace
}  // namespace paceline

#include "prepare/work_folder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "prepare/tasks.h"

namespace paceline {
namespace {

using Earlier = WorkFolder::Earlier;

TEST(WorkFolder, IsFoundAgainAndRemembersWhatWasChosen) {
  TempDir dir;
  {
    WorkFolder folder(dir.path() / "w", {{"a", 1}}, Earlier::kGoOn);
    EXPECT_FALSE(folder.resumed());
    EXPECT_EQ(folder.chosen("tasks", 8), 8U);
    write_atomically(folder / "result", "x");
  }
  {
    WorkFolder folder(dir.path() / "w", {{"a", 1}}, Earlier::kGoOn);
    EXPECT_TRUE(folder.resumed());
    EXPECT_EQ(folder.chosen("tasks", 99), 8U);
    EXPECT_TRUE(std::filesystem::exists(folder / "result"));
  }
  EXPECT_THROW(WorkFolder(dir.path() / "w", {{"a", 2}}, Earlier::kGoOn), DataError);
  WorkFolder fresh(dir.path() / "w", {{"a", 2}}, Earlier::kDiscard);
  EXPECT_FALSE(fresh.resumed());
  EXPECT_FALSE(std::filesystem::exists(fresh / "result"));
  fresh.remove();
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "w"));
}

TEST(WorkFolder, IsNotMadeOfWhatIsSomebodyElses) {
  TempDir dir;
  write_atomically(dir.path() / "thesis.txt", "years of work");
  EXPECT_THROW(WorkFolder(dir.path(), {}, Earlier::kGoOn), DataError);
  EXPECT_THROW(WorkFolder(dir.path(), {}, Earlier::kDiscard), DataError);
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "thesis.txt"));
}

// What was piped in must be piped in again; what another command has done is left alone.
TEST(WorkFolder, MayBeginAnewOnlyWithTheSame) {
  TempDir dir;
  const auto leave = [&] {
    const WorkFolder folder(dir.path() / "w", {{"a", 1}}, Earlier::kDiscard);
    write_atomically(folder / "result", "x");
  };
  leave();
  EXPECT_THROW(WorkFolder(dir.path() / "w", {{"a", 2}}, Earlier::kDiscardSame), DataError);
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "w" / "result"));
  const WorkFolder same(dir.path() / "w", {{"a", 1}}, Earlier::kDiscardSame);
  EXPECT_FALSE(same.resumed());
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "w" / "result"));
}

TEST(WorkFolder, ThatIsDamagedCanBeDiscarded) {
  TempDir dir;
  { const WorkFolder folder(dir.path() / "w", {}, Earlier::kGoOn); }
  write_atomically(dir.path() / "w" / "manifest.json", "");
  write_atomically(dir.path() / "w" / "result", "x");
  EXPECT_THROW(WorkFolder(dir.path() / "w", {}, Earlier::kGoOn), DataError);
  const WorkFolder folder(dir.path() / "w", {}, Earlier::kDiscard);
  EXPECT_FALSE(std::filesystem::exists(folder / "result"));
}

// Also when its manifest is JSON, with a checksum that is right.
TEST(WorkFolder, WhoseManifestIsNoneOfOursCanBeDiscarded) {
  for (const nlohmann::json& manifest :
       {nlohmann::json::array(), nlohmann::json(5), nlohmann::json("over"), nlohmann::json()}) {
    TempDir dir;
    std::filesystem::create_directory(dir / "w");
    write_done(dir / "w/manifest.json", manifest);
    write_atomically(dir / "w/result", "x");
    EXPECT_THROW(WorkFolder(dir / "w", {{"a", 1}}, Earlier::kGoOn), DataError) << manifest;
    const WorkFolder folder(dir / "w", {{"a", 1}}, Earlier::kDiscard);
    EXPECT_FALSE(std::filesystem::exists(folder / "result")) << manifest;
  }
}

TEST(WorkFolder, WhoseManifestHasAWordForANumberIsDamaged) {
  TempDir dir;
  std::filesystem::create_directory(dir / "w");
  write_done(dir / "w/manifest.json", {{"made_of", {{"a", 1}}}, {"tasks", "many"}});
  WorkFolder folder(dir / "w", {{"a", 1}}, Earlier::kGoOn);
  EXPECT_THROW(folder.chosen("tasks", 8), DataError);
}

TEST(WorkFolder, WhoseManifestDoesNotMatchItsChecksumIsDamaged) {
  TempDir dir;
  { const WorkFolder folder(dir / "w", {{"a", 1}}, Earlier::kGoOn); }
  std::string text = read_text(dir / "w/manifest.json");
  text[text.find('1')] = '2';
  write_atomically(dir / "w/manifest.json", text);
  write_atomically(dir / "w/result", "x");
  EXPECT_THROW(WorkFolder(dir / "w", {{"a", 2}}, Earlier::kGoOn), DataError);
}

// As the power may leave it when it fails while the folder is removed.
TEST(WorkFolder, ThatIsOverIsNotGoneOnWith) {
  TempDir dir;
  std::filesystem::create_directory(dir / "w");
  write_done(dir / "w/manifest.json", {{"over", true}});
  write_atomically(dir / "w/result", "x");
  const WorkFolder folder(dir / "w", {{"a", 1}}, Earlier::kGoOn);
  EXPECT_FALSE(folder.resumed());
  EXPECT_FALSE(std::filesystem::exists(folder / "result"));
}

TEST(WorkFolder, MayKeepSome) {
  TempDir dir;
  WorkFolder folder(dir.path() / "w", {}, Earlier::kGoOn);
  for (const char* name : {"read-1", "read-2", "group-1"}) write_atomically(folder / name, "x");
  folder.keep_only("read-");
  EXPECT_TRUE(std::filesystem::exists(folder / "read-1"));
  EXPECT_TRUE(std::filesystem::exists(folder / "manifest.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "group-1"));
}

TEST(WorkFolder, IsForOneAtATime) {
  TempDir dir;
  const WorkFolder folder(dir.path() / "w", {}, Earlier::kGoOn);
  EXPECT_THROW(WorkFolder(dir.path() / "w", {}, Earlier::kGoOn), DataError);
}

}  // namespace
}  // namespace paceline

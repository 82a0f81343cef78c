#include "data/sparse/row_caches.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/sparse/read_rows.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class RowCaches : public testing::Test {
 protected:
  // Where the rows of a new text are kept.
  fs::path read(const std::string& name, double test_share = 0) {
    RowSource source;
    source.files = folder_.file(name);
    source.cache_dir = folder_ / "cache";
    source.format.bits = 8;
    source.test_share = test_share;
    std::string text;
    for (int i = 0; i < 40; ++i) text += "1 1:" + std::to_string(i) + "\n";
    write_atomically(source.files, text);
    open_rows(source, Split::kTrain);
    return cache_path(source, Split::kTrain);
  }
  std::vector<FoundRowCache> find() const { return find_row_caches(folder_ / "cache"); }
  RowCacheState state() const {
    const auto found = find();
    EXPECT_EQ(found.size(), 1U);
    return found.at(0).state;
  }

  TempDir folder_;
};

TEST_F(RowCaches, AreFoundWithWhatTheyWereMadeOf) {
  EXPECT_TRUE(find().empty());  // there is no such folder
  const fs::path path = read("a.svm", 0.5);
  const auto found = find();
  ASSERT_EQ(found.size(), 2U);  // to train on, and to test on
  EXPECT_EQ(found[0].path, path);
  EXPECT_EQ(found[0].bytes, fs::file_size(path));
  EXPECT_EQ(found[0].rows + found[1].rows, 40U);
  EXPECT_EQ(found[0].origin.files, std::vector<fs::path>{folder_ / "a.svm"});
  EXPECT_EQ(found[0].state, RowCacheState::kUsable);
  EXPECT_EQ(found[1].state, RowCacheState::kUsable);
}

TEST_F(RowCaches, AreOfNoUseWhenTheirTextIsNotWhatItWas) {
  const fs::path path = read("a.svm");
  EXPECT_FALSE(is_useless(state()));
  write_atomically(folder_ / "a.svm", "1 1:1\n");
  EXPECT_EQ(state(), RowCacheState::kChanged);
  fs::remove(folder_ / "a.svm");
  EXPECT_EQ(state(), RowCacheState::kGone);
  fs::resize_file(path, 100);
  EXPECT_EQ(state(), RowCacheState::kUnusable);
  EXPECT_TRUE(is_useless(state()));
  remove_row_cache(find().at(0));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RowCaches, CanBeReadWhenTheyAreRemoved) {
  const RowCache cache(read("a.svm"));
  remove_row_cache(find().at(0));
  EXPECT_EQ(row_at(cache.row(39)).label, 1);
}

TEST_F(RowCaches, AreNoFilesThatOnlyLookLikeOne) {
  const fs::path path = read("a.svm");
  const fs::path folder = path.parent_path();
  fs::copy_file(path, folder / "mine.rows");
  fs::copy_file(path, folder / "mine.0123456789ABCDEF.rows");
  fs::create_symlink(path, folder / "linked.0123456789abcdef.rows");
  fs::create_directory(folder / "folder.0123456789abcdef.rows");
  write_atomically(folder / "text.0123456789abcdef.rows", "not a cache");
  write_atomically(folder / "text.0123456789abcdef.rows.partial", "nor the beginning of one");
  write_atomically(folder / "notes.partial", "");
  ASSERT_EQ(find().size(), 1U);
  EXPECT_EQ(find()[0].path, path);
}

// Of a run that was killed, or of one that writes it just now.
TEST_F(RowCaches, ThatAreIncompleteAreOfNoUseWhenNobodyWritesThem) {
  const fs::path path = read("a.svm");
  const fs::path partial = path.string() + ".partial";
  fs::rename(path, partial);
  EXPECT_EQ(state(), RowCacheState::kPartial);
  EXPECT_TRUE(is_useless(state()));
  std::ofstream(partial, std::ios::trunc).flush();
  EXPECT_EQ(state(), RowCacheState::kPartial);
  {
    const AtomicFile writer(path);
    EXPECT_EQ(state(), RowCacheState::kGrowing);
    EXPECT_FALSE(is_useless(state()));
  }
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace paceline

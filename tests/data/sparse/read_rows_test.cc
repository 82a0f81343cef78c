#include "data/sparse/read_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "data/sparse/text_lines.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  gzFile file = ::gzopen(path.c_str(), "wb");
  ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
}

void write_zstd(const std::filesystem::path& path, const std::string& text) {
  std::string bytes(::ZSTD_compressBound(text.size()), '\0');
  bytes.resize(::ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 1));
  write_atomically(path, bytes);
}

// Keys 7 and 9 are in every row; the row's number is a key, too.
std::string numbered_rows(int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) {
    text += fmt::format("{} 7:1 9:0.5 {}:{}\n", i % 3 == 0 ? 1 : 0, 100 + i, i + 2);
  }
  return text;
}

class ReadRows : public testing::Test {
 protected:
  ReadRows() {
    source_.files = folder_.file("rows.svm");
    source_.format.bits = 16;
    source_.cache_dir = folder_ / "cache";
    source_.threads = 3;
  }
  std::shared_ptr<const RowCache> open(Split split = Split::kTrain) {
    said_.clear();
    const auto hear = [this](const std::string& line) { said_.push_back(line); };
    return open_rows(source_, split, {hear, hear});
  }
  // The key that is a row's own, by the row's number.
  static std::vector<Key> own_keys(const RowCache& rows) {
    std::vector<Key> keys;
    for (std::uint64_t i = 0; i < rows.info().rows; ++i) {
      for (const Key key : row_at(rows.row(i)).keys) {
        const Key id = key & kHotBit ? rows.hot()[key & ~kHotBit] : key;
        if (id >= 100 && id < (Key{1} << 16)) keys.push_back(id);
      }
    }
    return keys;
  }

  TempDir folder_;
  RowSource source_;
  std::vector<std::string> said_;
};

TEST_F(ReadRows, AreTheSameFromPlainAndCompressedText) {
  const std::string text = numbered_rows(0, 60'000);  // more than one piece's worth of each
  write_atomically(source_.files, text);
  const auto plain = open();
  EXPECT_EQ(plain->info().rows, 60'000U);
  EXPECT_EQ(plain->info().positive, 20'000U);
  EXPECT_EQ(plain->info().keys, 240'000U);
  const std::vector<Key> keys = own_keys(*plain);
  ASSERT_THAT(keys, SizeIs(60'000));
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i], 100 + i);
  write_gzip(folder_ / "rows.gz", text);
  write_zstd(folder_ / "rows.zst", text);
  for (const char* name : {"rows.gz", "rows.zst"}) {
    source_.files = folder_.file(name);
    EXPECT_EQ(own_keys(*open()), keys) << name;
  }
}

TEST_F(ReadRows, KeysThatManyRowsHaveAreHot) {
  write_atomically(source_.files, numbered_rows(0, 1000));
  EXPECT_THAT(open()->hot(), ElementsAre(7, 9, 1 << 16));
}

TEST_F(ReadRows, AreReadOnceUntilTheTextChanges) {
  write_atomically(source_.files, numbered_rows(0, 100));
  open();
  EXPECT_THAT(said_, SizeIs(1));
  open();
  EXPECT_THAT(said_, IsEmpty());
  write_atomically(source_.files, numbered_rows(0, 101));
  EXPECT_EQ(open()->info().rows, 101U);
  EXPECT_THAT(said_, SizeIs(1));
  source_.format.bits = 17;
  EXPECT_EQ(open()->info().bits, 17U);
}

TEST_F(ReadRows, OfManyFilesAreInTheirOrder) {
  write_atomically(folder_ / "part-1", numbered_rows(10, 20));
  write_gzip(folder_ / "part-0.gz", numbered_rows(0, 10));
  source_.files = folder_.file("part-*");
  const std::vector<Key> keys = own_keys(*open());
  ASSERT_THAT(keys, SizeIs(20));
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(keys[i], 100 + i);
  source_.files = folder_.file("none-*");
  EXPECT_THAT(data_error_of([&] { open(); }), HasSubstr("there is no file"));
}

TEST_F(ReadRows, APartIsForTesting) {
  write_atomically(source_.files, numbered_rows(0, 2000));
  source_.test_share = 0.1;
  const auto train = open(Split::kTrain);
  const auto test = open(Split::kTest);
  EXPECT_THAT(said_, IsEmpty());  // both were made at once
  EXPECT_EQ(train->info().rows + test->info().rows, 2000U);
  EXPECT_NEAR(static_cast<double>(test->info().rows), 200, 60);
  std::vector<Key> all = own_keys(*train);
  const std::vector<Key> tested = own_keys(*test);
  all.insert(all.end(), tested.begin(), tested.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(ReadRows, BadLinesAreNamedAndLeftOut) {
  std::string text = numbered_rows(0, 10);
  for (int i = 0; i < 12; ++i) text += "junk\n";
  write_atomically(source_.files, text + numbered_rows(10, 20));
  EXPECT_EQ(open()->info().rows, 20U);
  EXPECT_EQ(open()->info().bad_lines, 12U);
  std::filesystem::remove_all(source_.cache_dir);
  open();
  ASSERT_THAT(said_, SizeIs(12));  // ten lines, the speed, the count
  EXPECT_THAT(said_[0], HasSubstr("rows.svm:11: it does not begin with a label"));
  EXPECT_THAT(said_[9], HasSubstr("rows.svm:20:"));
  EXPECT_THAT(said_[11], HasSubstr("12 line(s) were left out"));
  std::filesystem::remove_all(source_.cache_dir);
  source_.most_bad = 11;
  EXPECT_THAT(
      data_error_of([&] { open(); }),
      AllOf(HasSubstr("12 lines cannot be parsed as libsvm"), HasSubstr("--max-bad is 11")));
  EXPECT_THAT(names_in(source_.cache_dir), IsEmpty());
}

TEST_F(ReadRows, WhatIsNoTextIsRefused) {
  write_atomically(source_.files, "");
  EXPECT_THAT(data_error_of([&] { open(); }), HasSubstr("is empty"));
  write_atomically(source_.files, "what is this?\n");
  EXPECT_THAT(data_error_of([&] { open(); }), HasSubstr("looks like none of"));
  write_atomically(source_.files, "");
  source_.format.format = RowFormat::kLibsvm;
  EXPECT_THAT(data_error_of([&] { open(); }), HasSubstr("has no rows"));
  source_.files = folder_.file("nowhere");
  EXPECT_THAT(data_error_of([&] { open(); }), HasSubstr("nowhere"));
}

TEST_F(ReadRows, CutOffArchivesAreNamed) {
  source_.format.format = RowFormat::kLibsvm;
  for (const auto& [name, write] :
       {std::pair{"rows.gz", &write_gzip}, std::pair{"rows.zst", &write_zstd}}) {
    source_.files = folder_.file(name);
    write(source_.files, numbered_rows(0, 20'000));
    std::filesystem::resize_file(source_.files, std::filesystem::file_size(source_.files) / 2);
    EXPECT_THAT(data_error_of([&] { open(); }), AllOf(HasSubstr(name), HasSubstr("cut off")));
  }
}

TEST_F(ReadRows, ADamagedCacheIsMadeAgainOrNamed) {
  write_atomically(source_.files, numbered_rows(0, 1000));
  open();
  const auto path = cache_path(source_, Split::kTrain);
  const std::string good = read_text(path);
  const auto damage = [&](std::size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_atomically(path, bytes);
  };
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{12}, good.size() - 1,
                               good.size() - 30, good.size() - 60}) {
    damage(at);
    EXPECT_EQ(open()->info().rows, 1000U);
    EXPECT_THAT(said_.front(), HasSubstr("cannot be used"));
  }
  write_atomically(path, good.substr(0, good.size() / 2));
  EXPECT_EQ(open()->info().rows, 1000U);
  damage(100);  // in a block: only its checksum tells
  const auto rows = open();
  EXPECT_THAT(data_error_of([&] { rows->row(0); }), HasSubstr("block 0 does not match"));
  EXPECT_NO_THROW(rows->row(999));
}

// Pages may be missing of a cache that was written before the machine was started.
TEST_F(ReadRows, OfACacheFromBeforeTheStartAreLookedAtFirst) {
  write_atomically(source_.files, numbered_rows(0, 1000));
  open();
  const auto path = cache_path(source_, Split::kTrain);
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::years(30);
  std::filesystem::last_write_time(path, long_ago);
  open();
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_GT(std::filesystem::last_write_time(path), long_ago);  // so that it happens once
  std::string bytes = read_text(path);
  bytes[8000] = static_cast<char>(bytes[8000] + 1);  // in a block
  write_atomically(path, bytes);
  std::filesystem::last_write_time(path, long_ago);
  EXPECT_EQ(own_keys(*open()).size(), 1000U);
  ASSERT_THAT(said_, testing::Not(IsEmpty()));
  EXPECT_THAT(said_[0], AllOf(HasSubstr("does not match its checksum"), HasSubstr("made again")));
}

TEST(TextLines, LongLinesAreRefusedAndPiecesAreWhole) {
  TempDir folder;
  const std::string text = "abc\n\ndefgh\nlast";
  write_atomically(folder / "a", text);
  write_gzip(folder / "b", text);
  for (const char* name : {"a", "b"}) {
    for (std::size_t bytes = 1; bytes < 20; ++bytes) {
      std::string all;
      for_each_piece(
          {folder / name},
          [&](const TextPiece& piece) {
            all += piece.text;
            EXPECT_TRUE(piece.text.ends_with('\n') || all.size() == text.size());
            return true;
          },
          bytes);
      EXPECT_EQ(all, text) << name << " in pieces of " << bytes;
    }
    EXPECT_THAT(data_error_of([&] {
                  for_each_piece(
                      {folder / name}, [](const TextPiece&) { return true; }, 2, 3);
                }),
                HasSubstr("a line of more than"));
  }
}

}  // namespace
}  // namespace paceline

#include "prepare/number_step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/words.h"
#include "prepare/word_lists.h"
#include "prepare/word_numbers.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class NumberRows : public testing::Test {
 protected:
  // Rows of a word of their own and one that is unknown, from 0 to 2499, in three segments.
  NumberRows() {
    rows_.first_rows = {0};
    std::uint32_t row = 0;
    for (const std::uint32_t count : {1100U, 0U, 1400U}) {
      const fs::path name = dir_.path() / fmt::format("{}", rows_.segments.size());
      rows_.segments.push_back({name.string() + ".train", name.string() + ".numbers"});
      GroupWriter writer(rows_.segments.back().rows);
      WordListWriter list(name.string() + ".words");
      for (std::uint32_t i = 0; i < count; ++i, ++row) {
        words_.push_back(fmt::format("w{}", row));
        writer.add({static_cast<std::uint8_t>(row % 2), std::vector{i, count}});
        list.add(0, {1, i, words_.back()});
      }
      list.add(0, {1, count, "none"});
      writer.commit();
      list.commit();
      rows_.first_rows.push_back(row);
    }
    rows_.all = row;
    const WordNumbers numbers(words_);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto words = static_cast<std::uint32_t>(rows_.first_rows[i + 1] - rows_.first_rows[i]);
      translate_list(dir_.path() / fmt::format("{}.words", i), words + 1, numbers,
                     rows_.segments[i].numbers);
    }
  }

  NumberReport number(std::uint64_t first, std::uint64_t end, Chunks chunks = Chunks::kDeflated) {
    PrepareSettings settings;
    settings.length = 3;
    const NumberReport report =
        number_rows({rows_, first, end, chunks, 5000, dir_.path() / "chunks", stop_}, settings);
    numbered_ = read_numbered(dir_.path() / "chunks");
    return report;
  }

  static std::vector<std::uint16_t> inflated(const std::string& chunk, std::size_t numbers) {
    std::vector<std::uint16_t> values(numbers);
    libdeflate_decompressor* inflater = libdeflate_alloc_decompressor();
    EXPECT_EQ(libdeflate_zlib_decompress(inflater, chunk.data(), chunk.size(), values.data(),
                                         numbers * 2, nullptr),
              LIBDEFLATE_SUCCESS);
    libdeflate_free_decompressor(inflater);
    return values;
  }

  TempDir dir_;
  PartRows rows_;
  std::vector<std::string> words_;
  NumberedRows numbered_;
  StopFlag stop_ = false;
};

TEST(ChunkRows, AreFewWhereRowsAreLong) {
  EXPECT_EQ(chunk_rows(1), 1024U);
  EXPECT_EQ(chunk_rows(512), 1024U);
  EXPECT_EQ(chunk_rows(513), 512U);
  EXPECT_EQ(chunk_rows(65'535), 8U);
  EXPECT_EQ(task_rows(65'535), 128U);
}

TEST_F(NumberRows, ChunksAreWholeAndPadded) {
  const NumberReport report = number(0, 2500);
  ASSERT_EQ(numbered_.ids.size(), 3U);
  for (std::size_t chunk = 0; chunk < 3; ++chunk) {
    const auto ids = inflated(numbered_.ids[chunk], chunk_rows(3) * 3);
    for (std::size_t i = 0; i < chunk_rows(3); ++i) {
      const std::size_t row = chunk * chunk_rows(3) + i;
      ASSERT_EQ(ids[3 * i], row < 2500 ? Vocabulary::kFirstWord + row : 0);
      ASSERT_EQ(ids[3 * i + 1], row < 2500 ? Vocabulary::kUnknown : 0);
      ASSERT_EQ(ids[3 * i + 2], 0);
    }
  }
  EXPECT_EQ(report.words, 5000U);
  EXPECT_EQ(report.unknown, 2500U);
}

TEST_F(NumberRows, MayBePlain) {
  number(1000, 2500, Chunks::kPlain);
  ASSERT_EQ(numbered_.ids.size(), 1U);
  ASSERT_EQ(numbered_.ids[0].size(), 1500U * 3 * 2);
  ASSERT_EQ(numbered_.labels.size(), 1500U);
  for (std::size_t i = 0; i < 1500; ++i) {
    std::array<std::uint16_t, 3> ids{};
    std::memcpy(ids.data(), numbered_.ids[0].data() + 6 * i, 6);
    ASSERT_EQ(ids, (std::array<std::uint16_t, 3>{
                       static_cast<std::uint16_t>(Vocabulary::kFirstWord + 1000 + i), 1, 0}));
    ASSERT_EQ(numbered_.labels[i], static_cast<char>(i % 2));
  }
}

TEST_F(NumberRows, TheSumOfPartsIsThatOfTheWhole) {
  ContentSum parts = number(0, 1024).sum;
  parts.add(number(2048, 2500, Chunks::kPlain).sum);
  parts.add(number(1024, 2048).sum);
  EXPECT_EQ(parts.text(), number(0, 2500).sum.text());
  EXPECT_NE(parts.text(), number(0, 2499).sum.text());
}

TEST_F(NumberRows, AreNotReadWhenCutOff) {
  number(0, 2500);
  const std::string bytes = read_text(dir_.path() / "chunks");
  for (const std::size_t left :
       {std::size_t{0}, std::size_t{4}, std::size_t{30}, bytes.size() - 1}) {
    write_atomically(dir_.path() / "cut", bytes.substr(0, left));
    EXPECT_THROW(read_numbered(dir_.path() / "cut"), DataError);
  }
}

TEST_F(NumberRows, AreNotReadWhenDamaged) {
  number(0, 2500);
  std::string bytes = read_text(dir_.path() / "chunks");
  bytes[bytes.size() / 2] ^= 1;
  write_atomically(dir_.path() / "chunks", bytes);
  EXPECT_THROW(read_numbered(dir_.path() / "chunks"), DataError);
}

TEST_F(NumberRows, StopWhenTold) {
  stop_ = true;
  EXPECT_THROW(number(0, 2500), Interrupted);
}

}  // namespace
}  // namespace paceline

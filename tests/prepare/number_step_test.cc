#include "prepare/number_step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(WordNumbers, FollowTheOrderOfTheVocabulary) {
  std::vector<std::string> words;
  for (int i = 0; i < 5000; ++i)
    words.push_back(fmt::format("{}{}", i % 2 == 0 ? "longish" : "w", i));
  const WordNumbers numbers(words);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(numbers.number(words[i]), Vocabulary::kFirstWord + i);
  }
  EXPECT_EQ(numbers.number("w5001"), static_cast<std::uint32_t>(Vocabulary::kUnknown));
  EXPECT_EQ(numbers.end(), 5004U);
}

class NumberRows : public testing::Test {
 protected:
  // Rows "wN" from 0 to 2499, in three files.
  NumberRows() {
    files_.first_rows = {0};
    std::uint64_t row = 0;
    for (const std::uint64_t count : {1100U, 0U, 1400U}) {
      files_.paths.push_back(dir_.path() / fmt::format("{}.train", files_.paths.size()));
      GroupWriter writer(files_.paths.back());
      for (std::uint64_t i = 0; i < count; ++i, ++row) {
        writer.add({static_cast<std::uint8_t>(row % 2), fmt::format("w{} none", row)});
      }
      writer.commit();
      files_.first_rows.push_back(row);
    }
    for (std::uint64_t i = 0; i < row; ++i) words_.push_back(fmt::format("w{}", i));
  }

  NumberedRows numbered(std::uint64_t first, std::uint64_t end) {
    PrepareSettings settings;
    settings.length = 3;
    number_rows({files_, first, end, dir_.path() / "chunks", stop_}, WordNumbers(words_), settings);
    return read_numbered(dir_.path() / "chunks");
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
  PartFiles files_;
  std::vector<std::string> words_;
  StopFlag stop_ = false;
};

TEST_F(NumberRows, ChunksAreWholeAndPadded) {
  const NumberedRows rows = numbered(0, 2500);
  ASSERT_EQ(rows.ids.size(), 3U);
  for (std::size_t chunk = 0; chunk < 3; ++chunk) {
    const auto ids = inflated(rows.ids[chunk], kChunkRows * 3);
    for (std::size_t i = 0; i < kChunkRows; ++i) {
      const std::size_t row = chunk * kChunkRows + i;
      ASSERT_EQ(ids[3 * i], row < 2500 ? Vocabulary::kFirstWord + row : 0);
      ASSERT_EQ(ids[3 * i + 1], row < 2500 ? Vocabulary::kUnknown : 0);
      ASSERT_EQ(ids[3 * i + 2], 0);
    }
  }
  EXPECT_EQ(rows.words, 5000U);
  EXPECT_EQ(rows.unknown, 2500U);
}

TEST_F(NumberRows, TheSumOfPartsIsThatOfTheWhole) {
  ContentSum parts = numbered(0, 1024).sum;
  parts.add(numbered(2048, 2500).sum);
  parts.add(numbered(1024, 2048).sum);
  EXPECT_EQ(parts.text(), numbered(0, 2500).sum.text());
  EXPECT_NE(parts.text(), numbered(0, 2499).sum.text());
}

TEST_F(NumberRows, StopWhenTold) {
  stop_ = true;
  EXPECT_THROW(numbered(0, 2500), Interrupted);
}

}  // namespace
}  // namespace paceline

#include "data/row_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

using testing::ElementsAre;

IdTable table_of(std::uint64_t rows, std::uint64_t block_rows) {
  return {.file = "file", .name = "ids", .rows = rows, .block_rows = block_rows};
}

// The rows of the examples, found by their places.
std::vector<std::uint64_t> rows_of(const RowChoice& choice, const IdTable& table) {
  std::vector<std::uint64_t> rows;
  for (std::uint64_t example = 0; example < choice.examples(); ++example) {
    const RowChoice::Place place = choice.place(example);
    const auto bits = choice.bits(place.block);
    std::uint64_t row = place.row;
    for (std::uint64_t i = 0, chosen = 0; !bits.empty(); ++i) {
      if (((bits[i / 64] >> (i % 64)) & 1) == 0 || chosen++ < place.row) continue;
      row = i;
      break;
    }
    rows.push_back(table.rows_of(place.block).begin + row);
  }
  return rows;
}

TEST(RowChoice, TakesEveryRowAtFirst) {
  const IdTable table = table_of(7, 3);
  const RowChoice choice(table);
  EXPECT_THAT(rows_of(choice, table), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(RowChoice(table_of(0, 3)).examples(), 0U);
}

TEST(RowChoice, NumbersTheExamplesInTheOrderOfTheirRows) {
  for (const std::uint64_t block_rows : {1, 64, 100}) {
    const IdTable table = table_of(1000, block_rows);
    RowChoice choice(table);
    choice.keep([&](std::uint64_t block, std::span<std::uint64_t> bits) {
      const Range rows = table.rows_of(block);
      for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
        if (mix(row) % 3 != 0 || (row > 300 && row < 600)) continue;
        bits[(row - rows.begin) / 64] |= std::uint64_t{1} << ((row - rows.begin) % 64);
      }
    });
    std::vector<std::uint64_t> expected;
    for (std::uint64_t row = 0; row < 1000; ++row) {
      if (mix(row) % 3 == 0 && (row <= 300 || row >= 600)) expected.push_back(row);
    }
    EXPECT_EQ(rows_of(choice, table), expected) << block_rows;
  }
}

TEST(RowChoice, SamplesTheSameRowsWhateverTheBlocks) {
  std::vector<std::uint64_t> expected;
  Random random(1);
  for (std::uint64_t row = 0, limit = 50; row < 1000; ++row) {
    if (random.below(1000 - row) >= limit) continue;
    --limit;
    expected.push_back(row);
  }
  for (const std::uint64_t block_rows : {7, 128, 4096}) {
    const IdTable table = table_of(1000, block_rows);
    RowChoice choice(table);
    choice.sample(50);
    EXPECT_EQ(rows_of(choice, table), expected) << block_rows;
  }
}

TEST(RowChoice, ThrowsWhatTheFirstBlockThrew) {
  RowChoice choice(table_of(100, 1));
  try {
    choice.keep([](std::uint64_t block, std::span<std::uint64_t>) {
      if (block >= 40) throw DataError("block {}", block);
    });
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "block 40");
  }
}

}  // namespace
}  // namespace paceline

#include "prepare/word_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/temp_dir.h"
#include "prepare/word_lists.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

const std::vector<std::string> kStops = {"the", "a", "extraordinarily"};

std::vector<std::uint32_t> numbers_of(WordTable& table, std::string_view text,
                                      std::uint64_t times = 1) {
  std::vector<std::uint32_t> numbers;
  table.number(text, times, numbers);
  return numbers;
}

TEST(WordTable, NumbersWordsAsTheyComeButForThoseThatAreStopped) {
  WordTable table(kStops, std::size_t{64} << 20);
  EXPECT_THAT(numbers_of(table, "the good extraordinarily bad a good"), ElementsAre(0, 1, 0));
  EXPECT_THAT(numbers_of(table, "the a"), ElementsAre());
  EXPECT_THAT(numbers_of(table, ""), ElementsAre());
  EXPECT_THAT(numbers_of(table, "incomprehensible bad"), ElementsAre(2, 1));
  EXPECT_EQ(table.words(), 3U);
}

TEST(WordTable, ListsWhatCountsAndWhatDoesNot) {
  TempDir dir;
  WordTable table(kStops, std::size_t{64} << 20);
  numbers_of(table, "good better good", 2);
  numbers_of(table, "best good", 0);
  table.count("good", 3);
  table.write(dir.path() / "list");
  EXPECT_EQ(table.words(), 0U);
  std::map<std::string, std::pair<std::uint64_t, std::uint32_t>> listed;
  for_each_listed(dir.path() / "list", [&](const ListedWord& word) {
    listed[std::string(word.word)] = {word.count, word.number};
  });
  EXPECT_EQ(listed, (decltype(listed){{"good", {7, 0}}, {"better", {2, 1}}, {"best", {0, 2}}}));
}

// Tables that are full go to disk, and counts come together again.
TEST(WordTable, CountsExactlyInLittleMemory) {
  TempDir dir;
  WordTable table(kStops, std::size_t{5} << 20);
  std::map<std::string, std::uint64_t> known;
  std::vector<fs::path> lists;
  Random random(8);
  const auto write = [&] {
    lists.push_back(dir.path() / fmt::format("{}.words", lists.size()));
    table.write(lists.back());
  };
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t number = random.below(1 + random.below(150'000));
    const std::string word = fmt::format("{}w{}", number % 3 == 0 ? "abcdefgh" : "", number);
    numbers_of(table, "the " + word);
    ++known[word];
    if (table.full()) write();
  }
  write();
  EXPECT_GT(lists.size(), 2U);
  const WordTotals totals = merge_lists(lists, {.most = known.size()}, false);
  const std::map<std::string, std::uint64_t> counted(totals.words.begin(), totals.words.end());
  EXPECT_EQ(counted, known);
}

}  // namespace
}  // namespace paceline

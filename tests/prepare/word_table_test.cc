#include "prepare/word_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

const std::vector<std::string> kStops = {"the", "a", "extraordinarily"};

TEST(WordTable, KnowsWordsThatAreStopped) {
  WordTable table(kStops, std::size_t{64} << 20);
  EXPECT_EQ(table.count("the"), WordTable::Found::kStopped);
  EXPECT_EQ(table.look("extraordinarily"), WordTable::Found::kStopped);
  EXPECT_EQ(table.look("good"), WordTable::Found::kWord);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.count("good"), WordTable::Found::kWord);
  EXPECT_EQ(table.look("good"), WordTable::Found::kWord);
  EXPECT_FALSE(table.empty());
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
    EXPECT_TRUE(table.empty());
  };
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t number = random.below(1 + random.below(150'000));
    const std::string word = fmt::format("{}w{}", number % 3 == 0 ? "abcdefgh" : "", number);
    table.count(word);
    table.count("the");
    ++known[word];
    if (table.full()) write();
  }
  write();
  EXPECT_GT(lists.size(), 2U);
  auto expected = known.begin();
  for_each_counted(lists, [&](std::string_view word, std::uint64_t count) {
    ASSERT_NE(expected, known.end());
    EXPECT_EQ(word, expected->first);
    EXPECT_EQ(count, expected->second);
    ++expected;
  });
  EXPECT_EQ(expected, known.end());
}

TEST(WordTotals, HaveTheMostFrequentFirstAndThenTheAlphabet) {
  TempDir dir;
  std::vector<fs::path> lists;
  for (const char* text : {"d d d b c c a", "a e b"}) {
    WordTable table({}, std::size_t{64} << 20);
    for (const char* at = text; *at != '\0'; ++at) {
      if (*at != ' ') table.count({at, 1});
    }
    lists.push_back(dir.path() / fmt::format("{}.words", lists.size()));
    table.write(lists.back());
  }
  const WordTotals some = merge_words(lists, 3);
  EXPECT_THAT(some.words, ElementsAre("d", "a", "b"));
  EXPECT_EQ(some.different, 5U);
  EXPECT_EQ(some.occurrences, 10U);
  EXPECT_EQ(some.covered, 7U);
  EXPECT_THAT(merge_words(lists, 99).words, ElementsAre("d", "a", "b", "c", "e"));
}

}  // namespace
}  // namespace paceline

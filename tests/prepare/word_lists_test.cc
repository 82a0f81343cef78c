#include "prepare/word_lists.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "prepare/word_table.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Pair;

class WordListsTest : public testing::Test {
 protected:
  fs::path list(const std::string& text, std::uint64_t times = 1) {
    WordTable table({}, std::size_t{64} << 20);
    std::vector<std::uint32_t> numbers;
    table.number(text, times, numbers);
    const fs::path path = dir_.path() / fmt::format("{}.words", count_++);
    table.write(path);
    return path;
  }

  TempDir dir_;
  int count_ = 0;
};

TEST_F(WordListsTest, HaveTheMostFrequentFirstAndThenTheAlphabet) {
  const std::vector<fs::path> lists = {list("d d d b c c a"), list("a e b"), list("f", 0)};
  const WordTotals some = merge_lists(lists, 3);
  EXPECT_THAT(some.words, ElementsAre(Pair("d", 3), Pair("a", 2), Pair("b", 2)));
  EXPECT_EQ(some.different, 5U);
  EXPECT_THAT(merge_lists(lists, 99).words,
              ElementsAre(Pair("d", 3), Pair("a", 2), Pair("b", 2), Pair("c", 2), Pair("e", 1)));
  EXPECT_TRUE(merge_lists(lists, 0).words.empty());
}

TEST_F(WordListsTest, TheBestOfManyAreFoundInALittleMemory) {
  std::string text;
  for (int word = 0; word < 500; ++word) {
    for (int i = 0; i <= word % 50; ++i) text += fmt::format("word{:03} ", word);
  }
  text.pop_back();
  const WordTotals totals = merge_lists({list(text), list(text)}, 12);
  EXPECT_EQ(totals.different, 500U);
  std::vector<std::string> words;
  for (const auto& [word, count] : totals.words) words.push_back(word);
  EXPECT_THAT(words, ElementsAre("word049", "word099", "word149", "word199", "word249", "word299",
                                 "word349", "word399", "word449", "word499", "word048", "word098"));
}

TEST_F(WordListsTest, AWordIsInTheSameShareWhoeverDivides) {
  const std::vector<fs::path> lists = {list("one two three four five six incomprehensibilities"),
                                       list("six incomprehensibilities four seven")};
  std::map<std::string, std::uint64_t> counts;
  std::map<std::string, std::size_t> shares;
  for (const fs::path& path : lists) {
    std::vector<fs::path> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(dir_.path() / fmt::format("part-{}", i));
    divide_lists({path}, parts);
    for (std::size_t i = 0; i < 3; ++i) {
      for_each_listed(parts[i], [&](const ListedWord& word) {
        counts[std::string(word.word)] += word.count;
        EXPECT_EQ(shares.emplace(word.word, i).first->second, i);
      });
    }
  }
  EXPECT_EQ(counts.size(), 8U);
  EXPECT_EQ(counts["six"], 2U);
}

TEST_F(WordListsTest, ThatAreCutOffAreRefused) {
  const fs::path path = list("good bad");
  const std::string bytes = read_text(path);
  write_atomically(path, bytes.substr(0, bytes.size() - 1));
  EXPECT_THROW(merge_lists({path}, 3), DataError);
  EXPECT_THROW(merge_lists({dir_.path() / "none"}, 3), DataError);
}

}  // namespace
}  // namespace paceline

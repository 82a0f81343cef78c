#include "prepare/word_lists.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/file/file.h"
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

  static WordTotals merged(const std::vector<fs::path>& lists, std::size_t most) {
    return merge_lists(lists, {.most = most}, false);
  }

  TempDir dir_;
  int count_ = 0;
};

TEST_F(WordListsTest, HaveTheMostFrequentFirstAndThenTheAlphabet) {
  const std::vector<fs::path> lists = {list("d d d b c c a"), list("a e b"), list("f", 0)};
  const WordTotals some = merged(lists, 3);
  EXPECT_THAT(some.words, ElementsAre(Pair("d", 3), Pair("a", 2), Pair("b", 2)));
  EXPECT_EQ(some.different, 5U);
  EXPECT_THAT(merged(lists, 99).words,
              ElementsAre(Pair("d", 3), Pair("a", 2), Pair("b", 2), Pair("c", 2), Pair("e", 1)));
  EXPECT_TRUE(merged(lists, 0).words.empty());
}

TEST_F(WordListsTest, TheBestOfManyAreFoundInALittleMemory) {
  std::string text;
  for (int word = 0; word < 500; ++word) {
    for (int i = 0; i <= word % 50; ++i) text += fmt::format("word{:03} ", word);
  }
  text.pop_back();
  const WordTotals totals = merged({list(text), list(text)}, 12);
  EXPECT_EQ(totals.different, 500U);
  std::vector<std::string> words;
  for (const auto& [word, count] : totals.words) words.push_back(word);
  EXPECT_THAT(words, ElementsAre("word049", "word099", "word149", "word199", "word249", "word299",
                                 "word349", "word399", "word449", "word499", "word048", "word098"));
}

TEST_F(WordListsTest, HaveNoWordThatIsLongerThanAWord) {
  const std::string longest(kLongestWord, 'x');
  const WordTotals totals = merged({list(longest + " " + longest + "y good")}, 10);
  EXPECT_THAT(totals.words, ElementsAre(Pair("good", 1), Pair(longest, 1)));
  EXPECT_EQ(totals.different, 3U);
}

// However many threads there are, and however little memory.
TEST_F(WordListsTest, TheResultDependsOnTheWordsAlone) {
  std::vector<fs::path> lists;
  for (int i = 0; i < 3; ++i) {
    std::string text;
    for (int word = 0; word < 1000; ++word) {
      text += fmt::format("{}{} ", word % 3 == 0 ? "incomprehensible" : "w", word * (i + 1) % 1777);
    }
    text.pop_back();
    lists.push_back(list(text));
  }
  const WordTotals plain = merged(lists, 100);
  EXPECT_GT(plain.different, 1000U);
  for (const unsigned threads : {1U, 3U}) {
    for (const std::size_t memory : {std::size_t{100}, std::size_t{1} << 20}) {
      const WordTotals other =
          merge_lists(lists, {.most = 100, .threads = threads, .thread_memory = memory}, false);
      EXPECT_EQ(other.words, plain.words);
      EXPECT_EQ(other.different, plain.different);
    }
  }
}

// As processes do it.
TEST_F(WordListsTest, SlicesCanBeMergedApart) {
  const std::vector<fs::path> lists = {list("one two three four five six incomprehensibilities"),
                                       list("six incomprehensibilities four seven", 3)};
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const WordTotals part = merge_lists(lists, {.slices = slices_of(rank, 3), .most = 99}, false);
    for (const auto& [word, count] : part.words) EXPECT_TRUE(counts.emplace(word, count).second);
  }
  EXPECT_EQ(counts.size(), 8U);
  EXPECT_EQ(counts["six"], 4U);
}

TEST_F(WordListsTest, ThatAreCutOffAreRefused) {
  const fs::path path = list("good bad");
  const std::string bytes = read_text(path);
  write_atomically(path, bytes.substr(0, bytes.size() - 1));
  EXPECT_THROW(merged({path}, 3), DataError);
  write_atomically(path, std::string(bytes).replace(20, 1, "X"));
  EXPECT_THROW(merged({path}, 3), DataError);
  EXPECT_THROW(merged({dir_.path() / "none"}, 3), DataError);
}

// No text has one, and a table could not hold it.
TEST_F(WordListsTest, ThatHaveAWordWithoutLettersAreRefused) {
  const fs::path path = dir_ / "empty.words";
  WordListWriter writer(path);
  writer.add(3, {.count = 1, .number = 0, .word = "a"});
  writer.add(3, {.count = 1, .number = 1, .word = ""});
  writer.commit();
  EXPECT_THROW(for_each_listed(path, [](const ListedWord&) {}), DataError);
  EXPECT_THROW(merged({path}, 5), DataError);
}

}  // namespace
}  // namespace paceline

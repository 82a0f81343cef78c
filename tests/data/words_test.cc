#include "data/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words_of(std::string_view text, Marks marks = Marks::kDropped) {
  std::vector<std::string> words;
  for_each_word(text, marks, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

TEST(Words, AreSmallLettersAndDigits) {
  EXPECT_THAT(words_of("A  Film--of 1999, (I'd say) GREAT!"),
              ElementsAre("a", "film", "of", "1999", "id", "say", "great"));
  EXPECT_THAT(words_of("Ça va?"), ElementsAre("ça", "va"));
  EXPECT_THAT(words_of(" '-- "), IsEmpty());
}

TEST(Words, IncludeMarksWhenAsked) {
  EXPECT_THAT(words_of("Really? Yes.", Marks::kWords), ElementsAre("really", "?", "yes", "."));
}

WordCount counted(std::initializer_list<const char*> words) {
  WordCount count;
  for (const char* word : words) count.add(word);
  return count;
}

TEST(WordCount, PicksTheMostFrequentAndThenTheFirstInTheAlphabet) {
  const WordCount count = counted({"b", "a", "c", "c", "d"});
  EXPECT_THAT(count.most_frequent(Vocabulary::kFirstWord + 3).words(), ElementsAre("c", "a", "b"));
  EXPECT_THAT(count.most_frequent(1000).words(), ElementsAre("c", "a", "b", "d"));
  EXPECT_THAT(count.most_frequent(2).words(), IsEmpty());
}

TEST(Vocabulary, NumbersItsWordsBehindTheSpecialTokens) {
  const Vocabulary vocabulary({"the", "film"});
  EXPECT_EQ(vocabulary.number("the"), Vocabulary::kFirstWord);
  EXPECT_EQ(vocabulary.number("film"), Vocabulary::kFirstWord + 1);
  EXPECT_EQ(vocabulary.number("book"), Vocabulary::kUnknown);
  EXPECT_EQ(vocabulary.word(Vocabulary::kFirstWord + 1), "film");
  EXPECT_EQ(vocabulary.word(Vocabulary::kUnknown), "?");
  EXPECT_EQ(vocabulary.word(1000), "?");
}

}  // namespace
}  // namespace paceline

#include "prepare/word_numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temp_dir.h"
#include "data/words.h"
#include "prepare/word_lists.h"

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

TEST(WordNumbers, AListOfAnotherTableIsNoticed) {
  TempDir dir;
  WordListWriter list(dir.path() / "list");
  list.add(0, {1, 7, "word"});
  list.commit();
  EXPECT_THROW(
      translate_list(dir.path() / "list", 7, WordNumbers({"word"}), dir.path() / "numbers"),
      DataError);
}

}  // namespace
}  // namespace paceline

#include "prepare/word_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace paceline {
namespace {

TEST(WordHash, FindsWordsOfAnySize) {
  std::vector<std::string> expected;
  std::string text;
  for (std::size_t size = 1; size < 40; ++size) {
    for (const char letter : {'a', '\x1f', '!', '\xC3'}) {  // also next to the blank
      expected.emplace_back(size, letter);
      text += (text.empty() ? "" : " ") + expected.back();
    }
  }
  const std::string padded = text + std::string(kBlanksBehind, ' ');
  std::vector<std::string> found;
  std::set<std::uint64_t> keys;
  for_each_clean_word(std::string_view(padded).substr(0, text.size()),
                      [&](std::string_view word, std::uint64_t key) {
                        found.emplace_back(word);
                        EXPECT_EQ(key, key_of_word(word));
                        keys.insert(key);
                      });
  EXPECT_EQ(found, expected);
  EXPECT_EQ(keys.size(), expected.size());
  for_each_clean_word(std::string_view(padded).substr(0, 0),
                      [](std::string_view, std::uint64_t) { FAIL(); });
}

}  // namespace
}  // namespace paceline

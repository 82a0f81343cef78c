#include "prepare/stop_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/clean.h"

namespace paceline {
namespace {

TEST(StopWords, AreCleanAndHaveThoseOfTheReport) {
  const std::vector<std::string>& words = default_stop_words();
  for (const std::string& word : words) {
    std::string cleaned;
    append_clean(word, cleaned);
    EXPECT_EQ(cleaned, word);
  }
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
  for (const char* word : {"product", "would", "get", "the"}) {
    EXPECT_THAT(words, testing::Contains(word));
  }
  for (const char* word : {"not", "no", "good"})
    EXPECT_THAT(words, testing::Not(testing::Contains(word)));
}

TEST(StopWords, AreReadFromAFile) {
  TempDir dir;
  write_atomically(dir.path() / "stop", "# mine\nDon't\nthe # article\n\nthe\n");
  EXPECT_THAT(read_stop_words(dir.path() / "stop"), testing::ElementsAre("dont", "the"));
  EXPECT_THROW(read_stop_words(dir.path() / "none"), DataError);
}

}  // namespace
}  // namespace paceline

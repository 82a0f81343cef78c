#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace paceline {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kSettings = {"batch", "epochs", "lr", "momentum", "workers"};

TEST(Closest, FindsTypos) {
  EXPECT_EQ(closest("batc", kSettings), "batch");
  EXPECT_EQ(closest("bacth", kSettings), "batch");
  EXPECT_EQ(closest("epoch", kSettings), "epochs");
  EXPECT_EQ(closest("mometnum", kSettings), "momentum");
  EXPECT_EQ(closest("lrr", kSettings), "lr");
}

TEST(Closest, PrefersTheNearest) {
  const std::vector<std::string> candidates = {"words", "worker", "workers"};
  EXPECT_EQ(closest("workerss", candidates), "workers");
  EXPECT_EQ(closest("worker", candidates), "worker");
}

TEST(Closest, LeavesOtherWordsAlone) {
  EXPECT_EQ(closest("temperature", kSettings), std::nullopt);
  EXPECT_EQ(closest("xy", kSettings), std::nullopt);
  EXPECT_EQ(closest("", kSettings), std::nullopt);
  EXPECT_EQ(closest("batch", {}), std::nullopt);
}

TEST(DidYouMean, IsASentenceOrNothing) {
  EXPECT_EQ(did_you_mean("batc", kSettings), " — did you mean 'batch'?");
  EXPECT_EQ(did_you_mean("temperature", kSettings), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,b,c", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split(",a,,b,", ','), ElementsAre("", "a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Join, IsTheInverseOfSplit) {
  for (const std::string text : {"a,b,c", ",a,,b,", "", "one"}) {
    EXPECT_EQ(join(split(text, ','), ","), text);
  }
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Digest, DiffersForDifferentTexts) {
  std::set<std::string> seen;
  for (const std::string text : {"", "a", "b", "ab", "ba", "aa", "aaa"}) seen.insert(digest(text));
  seen.insert(digest(std::string(1, '\0')));
  seen.insert(digest(std::string(2, '\0')));
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_EQ(digest("paceline"), digest("paceline"));
  EXPECT_EQ(digest("").size(), 16u);
}

}  // namespace
}  // namespace paceline

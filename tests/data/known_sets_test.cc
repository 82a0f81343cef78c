#include "data/known_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace paceline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(KnownSets, AreWholeAndDistinct) {
  std::set<std::string> sums;
  for (const std::string& name : known_set_names()) {
    const KnownSet set = known_set(name);
    EXPECT_EQ(set.name, name);
    for (const DataFile& file : set.files) {
      EXPECT_THAT(file.sha256, MatchesRegex("[0-9a-f]{64}"));
      EXPECT_TRUE(sums.insert(file.sha256).second);
    }
    EXPECT_FALSE(set.sources.empty());
    if (name == "cifar10") {
      ASSERT_EQ(set.files.size(), 6u);
      for (const DataFile& file : set.files) EXPECT_EQ(file.bytes, 10'000u * 3073);
    }
    if (name == "imdb" || name == "cifar10") continue;
    ASSERT_EQ(set.files.size(), 4u);
    EXPECT_EQ(set.files[0].bytes, 16u + 60'000 * 28 * 28);
    EXPECT_EQ(set.files[1].bytes, 8u + 60'000);
    EXPECT_EQ(set.files[2].bytes, 16u + 10'000 * 28 * 28);
    EXPECT_EQ(set.files[3].bytes, 8u + 10'000);
    EXPECT_GE(set.sources.size(), 2u);
  }
}

TEST(KnownSets, UnknownNameListsTheKnownOnes) {
  try {
    known_set("mnits");
    FAIL() << "there is no such set";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'mnits'"), HasSubstr("did you mean 'mnist'"),
                                    HasSubstr("fashion-mnist")));
  }
}

}  // namespace
}  // namespace paceline

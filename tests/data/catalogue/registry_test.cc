#include "data/catalogue/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/known_sets.h"

namespace paceline {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

DataOptions set_named(const std::string& name) {
  DataOptions options;
  options.name = name;
  return options;
}

TEST(DatasetRegistry, HasWhatCanBeFetched) {
  EXPECT_THAT(dataset_names(), IsSupersetOf(known_set_names()));
  for (const DatasetKind& kind : dataset_kinds()) {
    EXPECT_EQ(kind.origin == Origin::kFetched, is_known_set(kind.name)) << kind.name;
  }
}

TEST(DatasetRegistry, SaysWhatTheUsersOwnFilesAre) {
  for (const DatasetKind& kind : dataset_kinds()) {
    const bool own = kind.origin == Origin::kOwnFolder || kind.origin == Origin::kOwnFiles;
    EXPECT_EQ(own, !kind.files.empty()) << kind.name;
  }
}

TEST(DatasetRegistry, KnowsWhatAnExampleIs) {
  EXPECT_TRUE(is_text(set_named("imdb")));
  EXPECT_TRUE(is_text(set_named("sentences")));
  EXPECT_EQ(text_kind(set_named("sentences")), TextKind::kSentences);
  EXPECT_EQ(text_kind(set_named("reviews")), TextKind::kReviews);
  EXPECT_TRUE(is_rows(set_named("rows")));
  EXPECT_TRUE(is_image_folder(set_named("images")));
  EXPECT_FALSE(is_text(set_named("mnist")));
}

TEST(DatasetRegistry, SuggestsANameThatIsMeant) {
  try {
    dataset_kind("minst");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("mnist"));
  }
}

}  // namespace
}  // namespace paceline

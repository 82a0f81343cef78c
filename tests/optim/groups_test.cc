#include "optim/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline {
namespace {

const Layout kLayout{{{"conv1.weight", {6}, {0, 6}},
                      {"conv1.bias", {2}, {6, 8}},
                      {"fc.weight", {10}, {8, 18}},
                      {"fc.bias", {2}, {18, 20}}},
                     20};

TEST(ResolveGroups, CoversEverythingWithFactorsOfOneWhenThereAreNone) {
  EXPECT_THAT(resolve_groups(kLayout, {}), testing::ElementsAre(GroupRange{{0, 20}, 1, 1}));
}

TEST(ResolveGroups, AppliesFactorsWhereANameStartsWithThePrefix) {
  const ParameterGroup groups[] = {{"fc", 10, 0.5}};
  EXPECT_THAT(resolve_groups(kLayout, groups),
              testing::ElementsAre(GroupRange{{0, 8}, 1, 1}, GroupRange{{8, 20}, 10, 0.5}));
}

TEST(ResolveGroups, PrefersTheLongestPrefixInWhateverOrderTheyAreGiven) {
  const ParameterGroup groups[] = {{"fc.bias", 3, 0}, {"fc", 10, 0.5}, {"", 2, 1}};
  EXPECT_THAT(resolve_groups(kLayout, groups),
              testing::ElementsAre(GroupRange{{0, 8}, 2, 1}, GroupRange{{8, 18}, 10, 0.5},
                                   GroupRange{{18, 20}, 3, 0}));
}

TEST(ResolveGroups, SortsTensorsAndFillsGapsBetweenThem) {
  const Layout layout{{{"b", {4}, {12, 16}}, {"a", {4}, {4, 8}}}, 20};
  const ParameterGroup groups[] = {{"a", 2, 2}, {"b", 3, 3}};
  EXPECT_THAT(resolve_groups(layout, groups),
              testing::ElementsAre(GroupRange{{0, 4}, 1, 1}, GroupRange{{4, 8}, 2, 2},
                                   GroupRange{{8, 12}, 1, 1}, GroupRange{{12, 16}, 3, 3},
                                   GroupRange{{16, 20}, 1, 1}));
}

TEST(ResolveGroups, TablesAreLazy) {
  Layout layout = kLayout;
  layout.tensors[2].table = true;
  const ParameterGroup groups[] = {{"fc", 10, 0.5}};
  EXPECT_THAT(resolve_groups(layout, groups),
              testing::ElementsAre(GroupRange{{0, 8}, 1, 1}, GroupRange{{8, 18}, 10, 0.5, true},
                                   GroupRange{{18, 20}, 10, 0.5}));
}

TEST(ResolveGroups, RefusesAPrefixThatMatchesNothingAndNamesTheTensors) {
  const ParameterGroup groups[] = {{"fc2", 2, 1}};
  try {
    resolve_groups(kLayout, groups);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'fc2'"),
                                             testing::HasSubstr("conv1.bias, fc.weight")));
  }
}

TEST(ResolveGroups, RefusesAPrefixGivenTwice) {
  const ParameterGroup groups[] = {{"fc", 2, 1}, {"fc", 3, 1}};
  EXPECT_THROW(resolve_groups(kLayout, groups), ConfigError);
}

}  // namespace
}  // namespace paceline

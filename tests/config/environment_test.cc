#include "config/environment.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/paths.h"

namespace paceline {
namespace {

using Variables = std::map<std::string, std::string>;

Environment with(const Variables& variables, bool terminal, int window_columns) {
  static Variables current;
  current = variables;
  return read_environment([](const char* name) { return current[name].c_str(); }, terminal,
                          window_columns);
}

TEST(Environment, KeepsDataInTheCacheFolderOfTheUser) {
  EXPECT_EQ(with({{"HOME", "/home/u"}}, false, 0).cache_dir, "/home/u/.cache/paceline");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/c"}}, false, 0).cache_dir,
            "/c/paceline");
  EXPECT_EQ(with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "relative"}}, false, 0).cache_dir,
            "/home/u/.cache/paceline");
}

TEST(Environment, WithoutAHomeHasNoCache) {
  EXPECT_EQ(with({}, false, 0).cache_dir, "");
}

TEST(Environment, RedrawsOnlyOnTerminalsThatCan) {
  EXPECT_TRUE(with({{"TERM", "xterm"}}, true, 0).terminal);
  EXPECT_FALSE(with({{"TERM", "xterm"}}, false, 0).terminal);
  EXPECT_FALSE(with({{"TERM", "dumb"}}, true, 0).terminal);
  EXPECT_FALSE(with({}, true, 0).terminal);
}

TEST(Environment, HasColorsUnlessTheUserWantsNone) {
  EXPECT_TRUE(with({{"TERM", "xterm"}}, true, 0).color);
  EXPECT_FALSE(with({{"TERM", "xterm"}, {"NO_COLOR", "1"}}, true, 0).color);
  EXPECT_FALSE(with({{"TERM", "xterm"}}, false, 0).color);
}

TEST(Environment, TakesTheWidthFromTheUserThenFromTheWindow) {
  EXPECT_EQ(with({{"COLUMNS", "120"}}, true, 100).columns, 120);
  EXPECT_EQ(with({}, true, 100).columns, 100);
  EXPECT_EQ(with({{"COLUMNS", "many"}}, true, 100).columns, 100);
  EXPECT_EQ(with({{"COLUMNS", "3"}}, true, 0).columns, 80);
}

TEST(Environment, OfThisProcessKnowsTheRecipesOfTheSourceTree) {
  EXPECT_EQ(current_environment().recipes.back(), source_path("recipes"));
}

TEST(Environment, KnowsWhoHasStartedTheProcess) {
  EXPECT_EQ(with({}, false, 0).started_by, StartedBy::kUser);
  EXPECT_EQ(with({{"OMPI_COMM_WORLD_SIZE", "2"}}, false, 0).started_by, StartedBy::kMpi);
  EXPECT_EQ(with({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}}, false, 0).started_by,
            StartedBy::kMpi);
  EXPECT_EQ(with({{"SLURM_STEP_NUM_TASKS", "3"}}, false, 0).started_by, StartedBy::kOtherLaunch);
  EXPECT_EQ(with({{"SLURM_STEP_NUM_TASKS", "1"}}, false, 0).started_by, StartedBy::kUser);
}

}  // namespace
}  // namespace paceline

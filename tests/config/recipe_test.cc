#include "config/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/paths.h"
#include "config/resolve.h"
#include "config/testing.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

RunConfig parse(const std::string& text) {
  RunConfig config;
  apply_toml(text, "r.toml", TomlKind::kRecipe, config);
  return config;
}

std::string refusal(const std::string& text) {
  return message_of<ConfigError>([&] { parse(text); });
}

TEST(Recipe, SetsWhatItNamesAndLeavesTheRest) {
  const RunConfig config = parse(R"(schema = 1
batch = 32
rate = 1
mode = "async"
deterministic = false
heartbeat = "250ms"
deadline = "1.5s"
memory-limit = "2G"
)");
  EXPECT_EQ(config.batch, 32U);
  EXPECT_EQ(config.schedule.rate, 1.0);
  EXPECT_EQ(config.mode, Mode::kAsync);
  EXPECT_EQ(config.heartbeat, Duration(std::chrono::milliseconds(250)));
  EXPECT_EQ(config.deadline, Duration(std::chrono::milliseconds(1500)));
  EXPECT_EQ(config.memory_limit, 2'000'000'000U);
  EXPECT_EQ(config.epochs, RunConfig{}.epochs);
}

TEST(Recipe, ReadsGroups) {
  const RunConfig config = parse(R"(schema = 1
[[group]]
prefix = "softmax.bias"
rate-factor = 2
[[group]]
prefix = ""
decay-factor = 0.5
)");
  ASSERT_EQ(config.groups.size(), 2U);
  EXPECT_EQ(config.groups[0].prefix, "softmax.bias");
  EXPECT_EQ(config.groups[0].rate_factor, 2.0);
  EXPECT_EQ(config.groups[0].decay_factor, 1.0);
  EXPECT_EQ(config.groups[1].decay_factor, 0.5);
}

TEST(Recipe, RefusesAnythingButItsSchema) {
  EXPECT_EQ(refusal("batch = 1\n"), "r.toml:1:1: the file must begin with 'schema = 1'");
  EXPECT_EQ(refusal(""), "r.toml:1:1: the file must begin with 'schema = 1'");
  EXPECT_EQ(refusal("schema = 2\nwhatever = 3\n"),
            "r.toml:1:10: schema 2 is not known: this version of paceline reads schema 1");
  EXPECT_EQ(refusal("schema = \"1\"\n"), "r.toml:1:10: schema must be a whole number");
  EXPECT_EQ(refusal("batch = 1\nschema = 1\n"),
            "r.toml:1:1: 'schema' must be the first key, before 'batch'");
}

TEST(Recipe, PointsAtAnUnknownKeyAndSuggestsOne) {
  EXPECT_EQ(refusal("schema = 1\n\n  bach = 100\n"),
            "r.toml:3:3: unknown setting 'bach' — did you mean 'batch'?");
  EXPECT_EQ(refusal("schema = 1\nzzzzzzzzzz = 1\n"), "r.toml:2:1: unknown setting 'zzzzzzzzzz'");
  EXPECT_EQ(refusal("schema = 1\n[optimizer]\nrate = 1\n"),
            "r.toml:2:1: optimizer must be a text in quotes");
}

TEST(Recipe, PointsAtAValueOfTheWrongType) {
  EXPECT_EQ(refusal("schema = 1\nbatch = \"100\"\n"), "r.toml:2:9: batch must be a whole number");
  EXPECT_EQ(refusal("schema = 1\nbatch = 1.5\n"), "r.toml:2:9: batch must be a whole number");
  EXPECT_EQ(refusal("schema = 1\nrate = \"1\"\n"), "r.toml:2:8: rate must be a number");
  EXPECT_EQ(refusal("schema = 1\nmode = 1\n"), "r.toml:2:8: mode must be a text in quotes");
  EXPECT_EQ(refusal("schema = 1\ndeterministic = \"true\"\n"),
            "r.toml:2:17: deterministic must be true or false, without quotes");
  EXPECT_EQ(refusal("schema = 1\nspin = true\n"),
            "r.toml:2:8: spin must be a time in quotes such as \"250ms\"");
  EXPECT_EQ(refusal("schema = 1\ndeadline = 60\n"),
            "r.toml:2:12: deadline: '60' has no unit: write 60s, 60ms or 60min");
  EXPECT_EQ(refusal("schema = 1\nmemory-limit = 1.5\n"),
            "r.toml:2:16: memory-limit must be a size in quotes such as \"512M\", or a number of "
            "bytes");
}

TEST(Recipe, PointsAtAValueOutOfRange) {
  EXPECT_EQ(refusal("schema = 1\nbatch = 0\n"), "r.toml:2:9: batch: must be at least 1, not 0");
  EXPECT_EQ(refusal("schema = 1\nbatch = -4\n"), "r.toml:2:9: batch: must be at least 1, not -4");
  EXPECT_EQ(refusal("schema = 1\nrate = inf\n"),
            "r.toml:2:8: rate: must be a finite number, not inf");
  EXPECT_EQ(refusal("schema = 1\nmode = \"sink\"\n"),
            "r.toml:2:8: mode: 'sink' is not one of sync, async, ssp — did you mean 'sync'?");
}

TEST(Recipe, RefusesWhatConcernsASingleRun) {
  EXPECT_EQ(refusal("schema = 1\nrun-dir = \"x\"\n"),
            "r.toml:2:1: 'run-dir' concerns a single run and cannot be in a recipe");
  EXPECT_EQ(refusal("schema = 1\nresume = \"x\"\n"),
            "r.toml:2:1: 'resume' concerns a single run and cannot be in a recipe");
}

TEST(Recipe, RefusesBrokenGroups) {
  EXPECT_EQ(refusal("schema = 1\ngroup = 3\n"),
            "r.toml:2:9: groups are written as tables: [[group]]");
  EXPECT_EQ(refusal("schema = 1\n[[group]]\nrate-factor = 1\n"),
            "r.toml:2:1: [[group]] needs a prefix");
  EXPECT_EQ(refusal("schema = 1\n[[group]]\nprefix = 1\n"),
            "r.toml:3:10: prefix must be a text in quotes");
  EXPECT_EQ(refusal("schema = 1\n[[group]]\nprefix = \"a\"\nrate-factor = \"1\"\n"),
            "r.toml:4:15: rate-factor must be a number");
  EXPECT_EQ(refusal("schema = 1\n[[group]]\nprefix = \"a\"\ndecay-factor = -1\n"),
            "r.toml:4:16: a factor must be finite and 0 or more");
  EXPECT_EQ(refusal("schema = 1\n[[group]]\nprefix = \"a\"\nrate-facto = 1\n"),
            "r.toml:4:1: unknown key 'rate-facto' in [[group]] — did you mean 'rate-factor'?");
}

TEST(Recipe, SaysWhereItIsNotToml) {
  EXPECT_THAT(refusal("schema = 1\nbatch = = 3\n"), testing::StartsWith("r.toml:2:9: "));
}

TEST(ReadRecipe, RefusesSettingsWithoutEffect) {
  const TestFolder folder;
  const auto refusal_of = [&](const std::string& text) {
    const fs::path file = folder.write("own.toml", text);
    const std::string sentence = message_of<ConfigError>([&] { read_recipe(file); });
    return sentence.substr(sentence.rfind('/') + 1);
  };
  EXPECT_EQ(refusal_of("schema = 1\nmomentum = 0.9\n"),
            "own.toml:2:1: momentum has no effect without optimizer momentum");
  EXPECT_EQ(refusal_of("schema = 1\nmode = \"sync\"\n  lease-block = 3\n"),
            "own.toml:3:3: lease-block has no effect without mode async or mode ssp");
  const fs::path fine =
      folder.write("own.toml", "schema = 1\nmomentum = 0.9\noptimizer = \"momentum\"\n");
  EXPECT_NO_THROW(read_recipe(fine));
}

TEST(FindRecipe, FindsByNameInTheFirstFolderThatHasIt) {
  const TestFolder folder;
  folder.write("a/one.toml", "");
  folder.write("b/one.toml", "");
  folder.write("b/two.toml", "");
  folder.write("b/notes.txt", "");
  const fs::path folders[] = {folder.path() / "absent", folder.path() / "a", folder.path() / "b"};
  EXPECT_EQ(find_recipe("one", folders), folder.path() / "a/one.toml");
  EXPECT_EQ(find_recipe("two", folders), folder.path() / "b/two.toml");
  EXPECT_THAT(recipe_names(folders), ElementsAre("one", "two"));
}

TEST(FindRecipe, TakesPathsAsTheyAre) {
  const TestFolder folder;
  const fs::path file = folder.write("mine.toml", "");
  EXPECT_EQ(find_recipe(file.string(), {}), file);
  EXPECT_EQ(message_of<ConfigError>([] { find_recipe("no/such", {}); }),
            "there is no recipe file 'no/such'");
  EXPECT_EQ(message_of<ConfigError>([] { find_recipe("nosuch.toml", {}); }),
            "there is no recipe file 'nosuch.toml'");
}

TEST(FindRecipe, SaysWhatToDoWithAFolder) {
  const TestFolder folder;
  folder.write("run/config.toml", "");
  const std::string run = (folder.path() / "run").string();
  EXPECT_EQ(message_of<ConfigError>([&] { find_recipe(run, {}); }),
            run + " is a run directory, not a recipe: go on from it with --resume " + run +
                ", or train anew with its settings, " + run + "/config.toml");
  const std::string other = folder.path().string();
  EXPECT_EQ(message_of<ConfigError>([&] { find_recipe(other, {}); }),
            other + " is a folder, not a recipe");
}

TEST(FindRecipe, ListsTheNamesAndSuggestsOne) {
  const TestFolder folder;
  folder.write("mnist.toml", "");
  folder.write("synthetic.toml", "");
  const fs::path folders[] = {folder.path()};
  EXPECT_EQ(message_of<ConfigError>([&] { find_recipe("minst", folders); }),
            "there is no recipe 'minst' — did you mean 'mnist'? (recipes: mnist, synthetic; the "
            "path of a file works, too)");
  EXPECT_EQ(message_of<ConfigError>([&] { find_recipe("x", {}); }),
            "there is no recipe 'x' (recipes: none found; the path of a file works, too)");
}

TEST(Recipes, OfThisRepositoryAreValid) {
  const fs::path folders[] = {source_path("recipes")};
  const auto names = recipe_names(folders);
  EXPECT_THAT(names, testing::IsSupersetOf({"mnist", "fashion-mnist", "synthetic"}));
  for (const std::string& name : names) {
    RunConfig config = read_recipe(find_recipe(name, folders));
    EXPECT_EQ(config.recipe, name);
    // As users do.
    if (config.data.name == "sentences") config.data.text.file = "pairs.tsv";
    if (config.data.name == "rows") config.data.text.file = "clicks.svm";
    EXPECT_NO_THROW(validate(config)) << name;
  }
}

TEST(Recipes, MnistIsThePublishedExperiment) {
  const RunConfig config = read_recipe(source_path("recipes/mnist.toml"));
  EXPECT_EQ(config.data.name, "mnist");
  EXPECT_EQ(config.model.name, "softmax");
  EXPECT_EQ(config.batch, 100U);
  EXPECT_EQ(config.schedule.rate, 0.5);
  EXPECT_EQ(config.epochs, 10U);
  EXPECT_EQ(config.optimizer.kind, OptimizerKind::kSgd);
  EXPECT_EQ(config.mode, Mode::kSync);
  EXPECT_EQ(config.workers, 2U);
  EXPECT_EQ(config.servers, 1U);
}

}  // namespace
}  // namespace paceline

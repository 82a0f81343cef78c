#include "config/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/recipe.h"
#include "config/testing.h"
#include "data/prepared_file.h"

namespace paceline {
namespace {

using Flags = std::map<std::string, std::string>;

class Resolve : public testing::Test {
 protected:
  Resolve() {
    folder_.write("recipes/small.toml", "schema = 1\nbatch = 10\nrate = 0.5\nmode = \"ssp\"\n");
    environment_.cache_dir = "/cache/paceline";
    environment_.recipes = {folder_.path() / "recipes"};
  }

  RunConfig with(const std::string& recipe, const Flags& flags) {
    return resolve({recipe, flags}, environment_);
  }
  std::string refusal(const Flags& flags) {
    return message_of<ConfigError>([&] { with("", flags); });
  }

  TestFolder folder_;
  Environment environment_;
};

TEST_F(Resolve, FlagsOverrideTheRecipeWhichOverridesTheDefaults) {
  const RunConfig config = with("small", {{"batch", "20"}});
  EXPECT_EQ(config.batch, 20U);
  EXPECT_EQ(config.schedule.rate, 0.5);
  EXPECT_EQ(config.epochs, RunConfig{}.epochs);
  EXPECT_EQ(config.recipe, "small");
}

TEST_F(Resolve, TheOrderOfExamplesFollowsTheSeed) {
  EXPECT_EQ(with("small", {{"seed", "17"}}).order.seed, 17U);
}

TEST_F(Resolve, PreparedReviewsAreReadInBlocksUnlessSaidOtherwise) {
  const std::string file = folder_.file("reviews.h5");
  PreparedFile(file)
      .version(1)
      .words({"good"})
      .layout({.chunk_rows = 2048})
      .part("train", 3, {4, 0, 0, 4, 4, 0}, {1, 0});
  folder_.write("recipes/texts.toml",
                "schema = 1\ndata = \"reviews\"\nvocabulary = 90\nlength = 70\nmodel = "
                "\"sentiment\"\n");
  const RunConfig config = with("texts", {{"data-file", file}});
  EXPECT_EQ(config.data.text.vocabulary, 5U);
  EXPECT_EQ(config.data.text.length, 3U);
  EXPECT_EQ(config.order.kind, OrderKind::kBlocks);
  EXPECT_EQ(config.order.block, 2048U);
  EXPECT_EQ(with("texts", {{"data-file", file}, {"order-window", "3"}}).order.window, 3U);
  EXPECT_EQ(with("texts", {{"data-file", file}, {"order", "blocks"}}).order.block, 2048U);
  EXPECT_EQ(with("texts", {{"data-file", file}, {"order-block", "7"}}).order.block, 7U);
  EXPECT_EQ(with("texts", {{"data-file", file}, {"order", "full"}}).order.kind, OrderKind::kFull);
  const auto lines = folder_.write("reviews.tsv", "1\tgood\n");
  EXPECT_EQ(with("texts", {{"data-file", lines.string()}}).order.kind, OrderKind::kFull);
}

TEST_F(Resolve, DataIsInTheCacheUnlessSaidOtherwise) {
  EXPECT_EQ(with("small", {}).data.dir, "/cache/paceline");
  EXPECT_EQ(with("small", {{"data-dir", "/elsewhere"}}).data.dir, "/elsewhere");
}

TEST_F(Resolve, TheRunDirectoryIsNamedAfterRecipeAndTime) {
  EXPECT_THAT(with("small", {}).run_dir.string(),
              testing::MatchesRegex("runs/small-[0-9]{8}-[0-9]{6}"));
  EXPECT_EQ(with("small", {{"run-dir", "out"}}).run_dir, "out");
}

TEST_F(Resolve, ResumeStartsFromTheConfigurationOfTheRun) {
  RunConfig old;
  old.recipe = "small";
  old.batch = 64;
  old.workers = 3;
  old.run_dir = "runs/where-it-was-then";
  const std::string run = (folder_.path() / "run").string();
  folder_.write("run/config.toml", config_toml(old));

  const RunConfig config = with("", {{"resume", run}, {"workers", "5"}});
  EXPECT_EQ(config.recipe, "small");
  EXPECT_EQ(config.batch, 64U);
  EXPECT_EQ(config.workers, 5U);
  EXPECT_EQ(config.resume, run);
  EXPECT_EQ(config.run_dir, run);
  EXPECT_EQ(with("", {{"resume", run}, {"run-dir", "new"}}).run_dir, "new");
}

TEST_F(Resolve, ResumeNeedsARunDirectoryAndNoRecipe) {
  EXPECT_EQ(refusal({{"resume", "no/such"}}),
            "--resume no/such: not a run directory: it has no config.toml");
  EXPECT_EQ(message_of<ConfigError>([&] {
              with("small", {{"resume", "runs/a"}});
            }),
            "--resume runs/a brings its own configuration: leave out the recipe 'small'");
}

TEST_F(Resolve, NamesTheFlagOfABadValue) {
  EXPECT_EQ(refusal({{"batch", "0"}}), "--batch: must be at least 1, not 0");
}

TEST_F(Resolve, ARecipeMayHoldValuesForModesThatAFlagReplaces) {
  folder_.write("recipes/stale.toml", "schema = 1\nmode = \"ssp\"\nstaleness = 4\n");
  EXPECT_EQ(with("stale", {{"mode", "sync"}}).mode, Mode::kSync);
}

TEST_F(Resolve, TheConfigurationOfARunIsARecipe) {
  folder_.write("recipes/stale.toml",
                "schema = 1\nmode = \"ssp\"\nstaleness = 4\nreduction = \"sum\"\n"
                "[[group]]\nprefix = \"softmax.bias\"\nrate-factor = 2\n");
  // The flag leaves a staleness without effect, which is then written down.
  const RunConfig first = with("stale", {{"run-dir", "first"}, {"mode", "sync"}});
  const auto file = folder_.write("first/config.toml", config_toml(first));
  RunConfig second = with(file.string(), {{"run-dir", "second"}});
  EXPECT_EQ(second.run_dir, "second");
  second.run_dir = first.run_dir;
  EXPECT_EQ(config_toml(second), config_toml(first));
  EXPECT_THAT(with(file.string(), {}).run_dir.string(), testing::StartsWith("runs/stale-"));
}

TEST_F(Resolve, ARunThatWentOnFromAnotherIsARecipeToo) {
  RunConfig old;
  old.recipe = "small";
  old.run_dir = old.resume = "runs/old";
  const auto file = folder_.write("old/config.toml", config_toml(old));
  EXPECT_EQ(with(file.string(), {}).resume, "");
}

TEST_F(Resolve, DataThatIsFetchedNeedsAPlace) {
  environment_.cache_dir.clear();
  EXPECT_EQ(refusal({}),
            "there is no folder for datasets: set HOME or XDG_CACHE_HOME, or name one with "
            "--data-dir");
  EXPECT_EQ(with("", {{"data-dir", "/elsewhere"}}).data.dir, "/elsewhere");
  EXPECT_EQ(with("", {{"data", "synthetic"}}).data.dir, "");
}

struct Contradiction {
  Flags flags;
  const char* sentence;
};

class Validate : public Resolve, public testing::WithParamInterface<Contradiction> {};

TEST_P(Validate, RefusesContradictions) {
  EXPECT_EQ(refusal(GetParam().flags), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    AllRules, Validate,
    testing::Values(
        Contradiction{{{"staleness", "3"}}, "--staleness has no effect without --mode ssp"},
        Contradiction{{{"optimizer", "ftrl"}, {"schedule", "cosine"}},
                      "--optimizer ftrl lowers the rate of each weight by itself, and weights "
                      "follow from the rate: use --schedule constant and no --warmup-epochs"},
        Contradiction{{{"exchange", "local"}, {"transfer", "dense"}},
                      "--transfer has no effect without --exchange ps or --data rows"},
        Contradiction{{{"data", "rows"}, {"data-file", "x"}, {"optimizer", "adam"}},
                      "sparse rows are learned with --optimizer ftrl, adagrad or sgd, not adam"},
        Contradiction{{{"data", "rows"}, {"data-file", "x"}, {"test-share", "0"}},
                      "--test-share 0 leaves nothing to test on: name a --test-file"},
        Contradiction{
            {{"data", "rows"}, {"data-file", "x"}, {"model", "logistic"}, {"labels", "numbers"}},
            "--labels numbers is for --model regression: logistic learns two classes"},
        Contradiction{{{"lease-block", "3"}},
                      "--lease-block has no effect without --mode async or --mode ssp"},
        Contradiction{{{"worker-eval", "false"}},
                      "--worker-eval has no effect without --mode async or --mode ssp"},
        Contradiction{{{"exchange", "local"}, {"servers", "2"}},
                      "--servers has no effect without --exchange ps"},
        Contradiction{{{"exchange", "local"}, {"transport", "tcp"}},
                      "--transport has no effect without --exchange ps or --exchange allreduce"},
        Contradiction{{{"listen", "127.0.0.1"}}, "--listen has no effect without --transport tcp"},
        Contradiction{{{"insecure", "true"}}, "--insecure has no effect without --transport tcp"},
        Contradiction{{{"sum-factor", "2"}}, "--sum-factor has no effect without --reduction sum"},
        Contradiction{{{"order-block", "2"}}, "--order-block has no effect without --order blocks"},
        Contradiction{{{"loader-threads", "2"}},
                      "--loader-threads has no effect without --loader-depth"},
        Contradiction{{{"momentum", "0.5"}},
                      "--momentum has no effect without --optimizer momentum"},
        Contradiction{{{"beta1", "0.5"}}, "--beta1 has no effect without --optimizer adam"},
        Contradiction{{{"epsilon", "0.5"}},
                      "--epsilon has no effect without --optimizer adagrad or --optimizer adam"},
        Contradiction{{{"step-factor", "0.5"}},
                      "--step-factor has no effect without --schedule step"},
        Contradiction{{{"final-rate", "0"}},
                      "--final-rate has no effect without --schedule cosine"},
        Contradiction{{{"data-classes", "5"}}, "--data-classes has no effect without --data idx"},
        Contradiction{{{"synthetic-width", "5"}},
                      "--synthetic-width has no effect without --data synthetic"},
        Contradiction{{{"augment", "true"}}, "--augment has no effect without --data images"},
        Contradiction{
            {{"test-share", "0.1"}},
            "--test-share has no effect without --data images, --data reviews, --data rows "
            "or --data sentences"},
        Contradiction{{{"train", "all"}}, "--train has no effect without --model image-quality"},
        Contradiction{{{"data", "images"}},
                      "--data images needs --data-file, a folder with a folder of images per "
                      "class"},
        Contradiction{{{"model", "image-quality"}, {"train", "top"}},
                      "--train top needs --init RUN, a run whose features are used: without it "
                      "they would be random"},
        Contradiction{{{"model", "image-quality"},
                       {"train", "top"},
                       {"init", "runs/a"},
                       {"data", "images"},
                       {"data-file", "photos"},
                       {"augment", "true"}},
                      "--augment changes the images in every epoch, and --train top computes "
                      "their features once: leave one of them out"},
        Contradiction{{{"data", "idx"}},
                      "--data idx needs --data-dir, the folder with the four IDX files"},
        Contradiction{{{"deterministic", "true"}, {"mode", "async"}},
                      "--deterministic needs --mode sync: the order of asynchronous updates is "
                      "not fixed"},
        Contradiction{{{"exchange", "local"}, {"mode", "ssp"}},
                      "--exchange local has the modes sync and async; --mode ssp needs "
                      "--exchange ps"},
        Contradiction{{{"transport", "tcp"}, {"listen", "0.0.0.0"}},
                      "--listen 0.0.0.0 can be reached from other hosts and the connections are "
                      "not encrypted: use a loopback address, or add --insecure in a network you "
                      "trust"},
        Contradiction{{{"batch", "10"}, {"tile", "11"}},
                      "--tile 11 is larger than --batch 10: a tile is a part of a step"},
        Contradiction{{{"schedule", "cosine"}, {"rate", "0.1"}, {"final-rate", "0.2"}},
                      "--final-rate 0.2 is larger than --rate 0.1"},
        Contradiction{{{"warmup-epochs", "4"}, {"epochs", "3"}},
                      "--warmup-epochs 4 is longer than the run (--epochs 3)"},
        Contradiction{
            {{"heartbeat", "6s"}},
            "--member-timeout 10s must be at least four times --heartbeat 6s: otherwise a "
            "late heartbeat kills a role"}));

// Of a run on sparse rows by threads, as --exchange local has it.
class RowThreads : public Resolve {
 protected:
  std::string refusal_of(const std::string& mode, const Flags& more) {
    Flags flags = {{"data", "rows"},      {"data-file", "x"},    {"model", "logistic"},
                   {"exchange", "local"}, {"optimizer", "ftrl"}, {"mode", mode}};
    flags.insert(more.begin(), more.end());
    return refusal(flags);
  }
};

TEST_F(RowThreads, RefuseWhatHasNoEffectRowByRow) {
  const Flags no_effect = {{"tile", "8"},
                           {"loader-depth", "2"},
                           {"loader-threads", "2"},
                           {"reduction", "mean"},
                           {"sum-factor", "2"}};
  for (const auto& [key, value] : no_effect) {
    EXPECT_EQ(refusal_of("async", {{key, value}}),
              "--" + key +
                  " has no effect when threads learn sparse rows one by one: leave it out, or "
                  "choose --mode sync");
  }
  EXPECT_EQ(refusal_of("async", {{"nonfinite", "ignore"}}),
            "--nonfinite ignore has no meaning when threads learn sparse rows one by one: leave it "
            "out, or choose --mode sync");
  EXPECT_EQ(refusal_of("async", {{"lease-block", "1"}}),
            "--lease-block has no effect without --exchange ps");
  EXPECT_EQ(refusal_of("async", {{"worker-eval", "false"}}),
            "--worker-eval has no effect without --exchange ps");
}

TEST_F(RowThreads, RefuseWhatConcernsProcesses) {
  for (const char* mode : {"sync", "async"}) {
    for (const char* key : {"heartbeat", "member-timeout", "deadline", "start-timeout"}) {
      EXPECT_EQ(
          refusal_of(mode, {{key, key == std::string("heartbeat") ? "1s" : "20s"}}),
          std::string("--") + key + " has no effect without --exchange ps or --exchange allreduce");
    }
    EXPECT_EQ(refusal_of(mode, {{"spin", "1ms"}}),
              "--spin has no effect without --exchange ps or --transfer dense");
  }
}

TEST_F(RowThreads, TakeSharesAndTheirSizesStepByStep) {
  const Flags flags = {{"data", "rows"},      {"data-file", "x"},    {"model", "logistic"},
                       {"exchange", "local"}, {"optimizer", "ftrl"}, {"mode", "sync"},
                       {"tile", "8"},         {"loader-depth", "2"}, {"reduction", "sum"}};
  EXPECT_EQ(with("", flags).tile, 8U);
}

// What a recipe says of steps is for those who choose another mode.
TEST_F(RowThreads, AcceptARecipeWithAReduction) {
  folder_.write("recipes/rows.toml",
                "schema = 1\ndata = \"rows\"\nmodel = \"logistic\"\noptimizer = \"ftrl\"\n"
                "exchange = \"local\"\nmode = \"async\"\nreduction = \"sum\"\n");
  EXPECT_EQ(with("rows", {{"data-file", "x"}}).mode, Mode::kAsync);
}

TEST_F(Resolve, AcceptsWhatGoesTogether) {
  EXPECT_EQ(with("", {{"mode", "ssp"}, {"staleness", "0"}}).staleness, 0U);
  EXPECT_TRUE(with("", {{"deterministic", "true"}, {"exchange", "local"}}).deterministic);
  EXPECT_EQ(with("", {{"transport", "tcp"}, {"listen", "10.0.0.1"}, {"insecure", "true"}}).listen,
            "10.0.0.1");
  EXPECT_EQ(with("", {{"transport", "tcp"}, {"listen", "::1"}}).listen, "::1");
}

}  // namespace
}  // namespace paceline

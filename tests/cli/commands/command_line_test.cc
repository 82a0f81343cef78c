#include "cli/commands/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/paths.h"
#include "base/text.h"
#include "cli/format.h"
#include "config/recipe.h"
#include "config/settings.h"
#include "config/testing.h"

namespace paceline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Environment environment() {
  Environment made;
  made.cache_dir = "/cache";
  made.recipes = {source_path("recipes")};
  return made;
}

ParsedCommand parse(const std::vector<std::string>& words) {
  return parse_command_line(words, environment());
}

template <typename Options>
Options parse_as(const std::vector<std::string>& words) {
  return std::get<Options>(parse(words));
}

std::string refusal(const std::vector<std::string>& words) {
  return message_of<ConfigError>([&] { parse(words); });
}

const std::vector<std::vector<std::string>> kCommands = {
    {"train"},       {"evaluate"},     {"predict"},       {"export"}, {"inspect"},  {"data"},
    {"data", "get"}, {"data", "list"}, {"data", "clean"}, {"bench"},  {"settings"}, {"role"}};

std::string help_of(std::vector<std::string> words) {
  words.emplace_back("--help");
  return parse_as<ShowText>(words).text;
}

TEST(CommandLine, TrainTakesARecipeAndSettings) {
  const auto options = parse_as<TrainOptions>(
      {"train", "mnist", "--batch", "50", "--rate=0.25", "--deterministic", "--json"});
  EXPECT_EQ(options.config.recipe, "mnist");
  EXPECT_EQ(options.config.batch, 50U);
  EXPECT_EQ(options.config.schedule.rate, 0.25);
  EXPECT_TRUE(options.config.deterministic);
  EXPECT_TRUE(options.json);
  EXPECT_FALSE(options.quiet);
  EXPECT_FALSE(options.dry_run);
}

TEST(CommandLine, FlagsMayStandBeforeTheRecipe) {
  const auto options = parse_as<TrainOptions>({"train", "--batch", "50", "--quiet", "mnist"});
  EXPECT_EQ(options.config.recipe, "mnist");
  EXPECT_EQ(options.config.batch, 50U);
  EXPECT_TRUE(options.quiet);
}

TEST(CommandLine, TheLastOfRepeatedFlagsWins) {
  EXPECT_EQ(parse_as<TrainOptions>({"train", "mnist", "--batch", "1", "--batch", "2"}).config.batch,
            2U);
}

TEST(CommandLine, TheLastOfRepeatedOptionsWins) {
  EXPECT_EQ(
      parse_as<EvaluateCommand>({"evaluate", "r", "--data", "a", "--data", "b"}).evaluate.data,
      "b");
  EXPECT_TRUE(parse_as<EvaluateCommand>({"evaluate", "r", "--json", "--json"}).json);
}

TEST(CommandLine, SwitchesTakeTrueOrFalse) {
  const auto deterministic = [](const std::string& word) {
    return parse_as<TrainOptions>({"train", "mnist", word}).config.deterministic;
  };
  for (const char* value : {"true", "yes", "on", "1"}) {
    EXPECT_TRUE(deterministic(std::string("--deterministic=") + value)) << value;
    EXPECT_FALSE(deterministic(std::string("--no-deterministic=") + value)) << value;
  }
  for (const char* value : {"false", "no", "off", "0"}) {
    EXPECT_FALSE(deterministic(std::string("--deterministic=") + value)) << value;
  }
  EXPECT_EQ(refusal({"train", "mnist", "--deterministic=maybe"}),
            "--deterministic=maybe is neither true nor false: write --deterministic alone, or with "
            "true, false, yes, no, on, off, 1, 0");
  for (const char* word : {"--json=maybe", "--quiet=", "--no-worker-eval=5"}) {
    EXPECT_THAT(refusal({"train", "mnist", word}), HasSubstr("neither true nor false")) << word;
  }
}

TEST(CommandLine, EverySettingIsAFlagOfTrain) {
  for (const Setting& setting : settings()) {
    if (setting.scope == SettingScope::kResolved || setting.key == "resume") continue;
    const std::string value = setting.format(RunConfig{});
    const bool boolean = setting.type == SettingType::kBoolean;
    const std::string flag = boolean && value == "false" ? "--no-" : "--";
    std::vector<std::string> words = {"train", "mnist", flag + setting.key};
    if (!boolean) words.push_back(value.empty() ? "x" : value);
    try {
      parse(words);
    } catch (const ConfigError& error) {
      // The defaults of settings for other modes may be refused, but not as unknown.
      EXPECT_THAT(error.what(), HasSubstr("has no effect without")) << setting.key;
    }
  }
}

TEST(CommandLine, TrainNeedsSomethingToTrain) {
  EXPECT_EQ(
      refusal({"train"}),
      "train what? Name a recipe: alexnet, clicks, fashion-mnist, image-quality, mnist, sentiment, "
      "synthetic, translation, translation-large");
}

TEST(CommandLine, UnknownWordsAreRefusedWithASuggestion) {
  EXPECT_EQ(refusal({"trian", "mnist"}),
            "'trian' is not a command of paceline — did you mean 'train'? (see 'paceline --help')");
  EXPECT_EQ(refusal({"train", "--bach", "32", "mnist"}),
            "unknown option '--bach' — did you mean '--batch'? (see 'paceline train --help')");
  EXPECT_EQ(refusal({"train", "mnist", "--bach=32"}),
            "unknown option '--bach' — did you mean '--batch'? (see 'paceline train --help')");
  EXPECT_EQ(refusal({"data", "gett"}),
            "'gett' is not a command of paceline data — did you mean 'get'? (see 'paceline data "
            "--help')");
  EXPECT_EQ(refusal({"evaluate", "x", "--date", "3"}),
            "unknown option '--date' — did you mean '--data'? (see 'paceline evaluate --help')");
  EXPECT_THAT(refusal({"train", "minst"}), HasSubstr("did you mean 'mnist'?"));
  EXPECT_THAT(refusal({"train", "mnist", "--mode", "asinc"}),
              HasSubstr("--mode: 'asinc' is not one of sync, async, ssp"));
}

TEST(CommandLine, MissingAndSuperfluousWordsAreRefused) {
  const std::string batch = "--batch needs a value: --batch N (see 'paceline train --help')";
  EXPECT_EQ(refusal({"train", "mnist", "--batch"}), batch);
  EXPECT_EQ(refusal({"train", "mnist", "--batch", "--rate", "3"}), batch);
  EXPECT_EQ(refusal({"train", "mnist", "--batch="}), batch);
  EXPECT_EQ(refusal({"evaluate"}),
            "evaluate needs RUN: run directory (its newest checkpoint) or a checkpoint (see "
            "'paceline evaluate --help')");
  EXPECT_EQ(refusal({"predict", "run"}),
            "predict needs --input: images in IDX format, lines of text (gzipped or not), or an "
            "image or a folder of them; of sparse rows, what --data-file may be (see 'paceline "
            "predict --help')");
  EXPECT_EQ(
      refusal({"data", "get"}),
      "data get needs NAME: mnist, fashion-mnist, cifar10, imdb (see 'paceline data get --help')");
  EXPECT_EQ(refusal({"train", "mnist", "another", "-x"}),
            "train has no use for 'another', '-x' (see 'paceline train --help')");
  EXPECT_THAT(refusal({"train", "mnist", "--batch", "-1"}),
              HasSubstr("--batch: must be at least 1, not -1"));
}

TEST(CommandLine, EvaluatePredictInspectAndBenchAreReadWhole) {
  const auto evaluate = parse_as<EvaluateCommand>(
      {"evaluate", "runs/a", "--data", "mnist", "--test-file", "f", "--json"});
  EXPECT_EQ(evaluate.evaluate.target, "runs/a");
  EXPECT_EQ(evaluate.evaluate.data, "mnist");
  EXPECT_EQ(evaluate.evaluate.test_file, "f");
  EXPECT_TRUE(evaluate.json);

  const auto predict = parse_as<PredictOptions>(
      {"predict", "runs/a", "--input", "i.gz", "--output", "o", "--probabilities"});
  EXPECT_EQ(predict.target, "runs/a");
  EXPECT_EQ(predict.input, "i.gz");
  EXPECT_EQ(predict.output, "o");
  EXPECT_TRUE(predict.probabilities);

  EXPECT_EQ(parse_as<InspectOptions>({"inspect", "mnist"}).target, "mnist");
  EXPECT_THAT(parse_as<BenchOptions>({"bench", "a", "b", "--json"}).names, ElementsAre("a", "b"));
  EXPECT_TRUE(parse_as<SettingsOptions>({"settings", "--markdown"}).markdown);
}

TEST(CommandLine, BehindACommandTheNamesOfOthersAreWords) {
  EXPECT_THAT(parse_as<BenchOptions>({"bench", "prepare", "--json"}).names, ElementsAre("prepare"));
  EXPECT_THAT(parse_as<PrepareReviewsOptions>({"prepare", "reviews", "data"}).prepare.inputs,
              ElementsAre("data"));
  EXPECT_EQ(parse_as<InspectOptions>({"inspect", "train"}).target, "train");
}

TEST(CommandLine, DataGoesToTheCacheUnlessSaidOtherwise) {
  const auto get = parse_as<DataGetOptions>({"data", "get", "mnist", "fashion-mnist"});
  EXPECT_THAT(get.names, ElementsAre("mnist", "fashion-mnist"));
  EXPECT_EQ(get.data_dir, "/cache");
  EXPECT_EQ(parse_as<DataListOptions>({"data", "list", "--data-dir", "/x"}).data_dir, "/x");
  EXPECT_EQ(parse_as<DataCleanOptions>({"data", "clean"}).data_dir, "/cache");
  const auto clean =
      parse_as<DataCleanOptions>({"data", "clean", "a.rows", "--cache-dir", "/x", "--dry-run"});
  EXPECT_THAT(clean.names, ElementsAre("a.rows"));
  EXPECT_EQ(clean.cache_dir, "/x");
  EXPECT_TRUE(clean.dry_run);
  EXPECT_EQ(parse_as<BenchOptions>({"bench"}).data_dir, "/cache");
  EXPECT_EQ(parse_as<BenchOptions>({"bench", "--data-dir", "/x"}).data_dir, "/x");
}

TEST(CommandLine, ARoleIsToldWhereToReadWhatItIs) {
  const auto role = parse_as<RoleOptions>(
      {"role", "server0", "--spec-fd", "4", "--announce-fd", "5", "--failure-fd", "6"});
  EXPECT_EQ(role.name, "server0");
  EXPECT_EQ(role.spec_fd, 4);
  EXPECT_EQ(role.announce_fd, 5);
  EXPECT_EQ(role.failure_fd, 6);
  EXPECT_THAT(refusal({"role", "server0"}), HasSubstr("--spec-fd"));
}

TEST(Help, IsThereForEveryCommandAndFitsTheTerminal) {
  for (const auto& command : kCommands) {
    const std::string help = help_of(command);
    EXPECT_THAT(help, testing::StartsWith("Usage: paceline " + join(command, " ")));
    for (const std::string& line : split(help, '\n')) EXPECT_LE(display_width(line), 80U) << line;
  }
}

TEST(Help, OfEveryCommandHasItsOwnExamples) {
  const std::string root = help_of({});
  for (const auto& command : kCommands) {
    const std::string help = help_of(command);
    EXPECT_THAT(help, testing::Not(HasSubstr("Exit codes:"))) << join(command, " ");
    if (command[0] == "role") continue;
    EXPECT_THAT(help, HasSubstr("Examples:\n  paceline " + join(command, " ")));
  }
}

TEST(Help, OfTrainNamesEverySettingWithItsDefault) {
  const std::string help = help_of({"train"});
  for (const Setting& setting : settings()) {
    if (setting.scope == SettingScope::kResolved) continue;
    const bool boolean = setting.type == SettingType::kBoolean;
    EXPECT_THAT(help, HasSubstr((boolean ? "--[no-]" : "--") + setting.key)) << setting.key;
    EXPECT_THAT(help, HasSubstr("[" + setting.default_text + "]")) << setting.key;
  }
}

TEST(Help, OfTheProgramShowsCommandsExamplesAndExitCodes) {
  const std::string help = help_of({});
  EXPECT_EQ(parse_as<ShowText>({}).text, help);
  for (const char* word : {"train", "evaluate", "predict", "export", "inspect", "data", "bench",
                           "settings", "Examples:", "Exit codes:", "130"}) {
    EXPECT_THAT(help, HasSubstr(word));
  }
  EXPECT_THAT(help, testing::Not(HasSubstr("\n  role")));
}

TEST(Help, ShowsTheVersion) {
  EXPECT_EQ(parse_as<ShowText>({"--version"}).text, std::string("paceline ") + kVersion + "\n");
}

}  // namespace
}  // namespace paceline

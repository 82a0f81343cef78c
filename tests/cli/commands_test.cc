#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/commands/command_line.h"
#include "cli/format.h"
#include "config/recipe.h"
#include "config/settings.h"
#include "config/testing.h"
#include "data/known_sets.h"
#include "data/sparse/read_rows.h"

namespace paceline {
namespace {

using testing::HasSubstr;

// Commands run on actions that do nothing but show that they were called.
class Commands : public testing::Test {
 protected:
  Commands() {
    environment_.recipes = {source_path("recipes")};
    environment_.cache_dir = folder_.path() / "cache";
  }

  std::string output_of(const std::vector<std::string>& words) {
    out_.str("");
    run_command(parse_command_line(words, environment_), {environment_, actions_, out_, err_});
    return out_.str();
  }

  std::ostringstream out_;
  std::ostringstream err_;
  TestFolder folder_;
  Environment environment_;
  Actions actions_;
};

TEST_F(Commands, TrainRunsTheConfigurationAndShowsItsReports) {
  actions_.train = [](const RunConfig& config, Reporter& reporter) {
    reporter.notice("batch " + std::to_string(config.batch));
  };
  EXPECT_EQ(output_of({"train", "mnist", "--batch", "7"}), "batch 7\n");
  EXPECT_EQ(output_of({"train", "mnist", "--batch", "7", "--quiet"}), "");
  EXPECT_EQ(nlohmann::json::parse(output_of({"train", "mnist", "--batch", "7", "--json"})),
            (nlohmann::json{{"type", "notice"}, {"text", "batch 7"}}));
}

TEST_F(Commands, ADryRunShowsTheConfigurationAndStartsNothing) {
  actions_.estimate = [](const RunConfig&) { return nlohmann::json{{"memory_bytes", 2000000U}}; };
  const std::string text = output_of({"train", "mnist", "--dry-run", "--batch", "7"});
  EXPECT_THAT(text, HasSubstr("\nbatch = 7\n"));
  EXPECT_THAT(text, HasSubstr("memory bytes  2.00 MB"));
  const auto object = nlohmann::json::parse(output_of({"train", "mnist", "--dry-run", "--json"}));
  EXPECT_EQ(object["estimate"]["memory_bytes"], 2000000U);
}

TEST_F(Commands, EvaluateShowsTheResult) {
  actions_.evaluate = [](const EvaluateOptions& options) {
    Evaluation evaluation{options.target.string(), "mnist/test", {}};
    evaluation.metrics.accuracy = 0.9193;
    return evaluation;
  };
  EXPECT_THAT(output_of({"evaluate", "runs/a"}), HasSubstr("accuracy    91.93 %"));
  const auto object = nlohmann::json::parse(output_of({"evaluate", "runs/a", "--json"}));
  EXPECT_EQ(object["accuracy"], 0.9193);
  EXPECT_EQ(object["checkpoint"], "runs/a");
}

TEST_F(Commands, PredictWritesOneLinePerExample) {
  actions_.predict = [](const auto&, const auto&, const EachPredictions& each) {
    each({3, {0.25F, 0.5F, 0.25F}, {}, {}, {}});
    each({3, {0.75F, 0.125F, 0.125F}, {}, {}, {}});
  };
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i"}), "1\n0\n");
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i", "--probabilities"}),
            "1\t0.25\t0.5\t0.25\n0\t0.75\t0.125\t0.125\n");
  const std::string file = (folder_.path() / "labels").string();
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i", "--output", file}), "");
  EXPECT_EQ(read_text(file), "1\n0\n");
  actions_.predict = [](const auto&, const auto&, const EachPredictions& each) {
    each({2, {0.25F, 0.75F}, {}, {}, {"cat", "dog"}});
  };
  EXPECT_EQ(output_of({"predict", "runs/a", "--input", "i"}), "dog\n");
}

TEST_F(Commands, InspectShowsARecipeWithAllItsSettings) {
  actions_.estimate = [](const RunConfig&) { return nlohmann::json{{"parameters", 7850U}}; };
  const std::string text = output_of({"inspect", "mnist"});
  EXPECT_THAT(text, HasSubstr("rate = 0.5\n"));
  EXPECT_THAT(text, HasSubstr("7,850"));
  EXPECT_THAT(text, HasSubstr("member-timeout = \"10s\"\n"));
  const auto object = nlohmann::json::parse(output_of({"inspect", "mnist", "--json"}));
  EXPECT_EQ(object["config"]["rate"], "0.5");
}

TEST_F(Commands, SparseRowsNeedNoFileToBeEstimated) {
  actions_.estimate = [](const RunConfig& config) {
    return nlohmann::json{{"parameters", config.data.rows.format.bits}};
  };
  EXPECT_THAT(output_of({"inspect", "clicks"}), HasSubstr("parameters  26"));
  EXPECT_THAT(output_of({"train", "clicks", "--bits", "12", "--dry-run"}),
              HasSubstr("parameters  12"));
  EXPECT_THAT(message_of<ConfigError>([&] {
                output_of({"train", "clicks"});
              }),
              HasSubstr("--data rows needs --data-file"));
}

// A run directory with two checkpoints.
class InspectRun : public Commands {
 protected:
  InspectRun() {
    actions_.estimate = [](const RunConfig&) -> nlohmann::json {
      throw DataError("the data is not here");
    };
    folder_.write("run/config.toml", config_toml(RunConfig{}));
    write(600, 1);
    write(1200, 2);
  }

  // 2,570 parameters, of which the first is `value`, the others 0.
  void write(std::uint64_t version, float value) const {
    CheckpointInfo info;
    info.layout.tensors = {{"softmax.weight", {10, 256}, {0, 2560}},
                           {"softmax.bias", {10}, {2560, 2570}}};
    info.layout.size = 2570;
    info.model = "softmax";
    info.optimizer = "sgd";
    info.version = version;
    info.epoch = version / 600;
    info.steps = "60000 examples in batches of 100";
    write_checkpoint(checkpoint_path(run_, version), info,
                     [&](std::uint64_t, Range floats, std::span<float> out) {
                       std::fill(out.begin(), out.end(), 0.0F);
                       if (floats.begin == 0) out[0] = value;
                     });
  }
  void damage(std::uint64_t version) const {
    std::fstream file(checkpoint_path(run_, version), std::ios::in | std::ios::out);
    file.seekp(-100, std::ios::end);
    file << "damage";
  }

  std::filesystem::path run_ = folder_.path() / "run";
};

TEST_F(InspectRun, ShowsSummaryAndCheckpoints) {
  const std::string run = run_.string();
  EXPECT_THAT(output_of({"inspect", run}), HasSubstr("the run has not come to its end"));
  folder_.write("run/summary.json", R"({"test_accuracy": 0.92, "workers": 2})");
  const std::string text = output_of({"inspect", run});
  EXPECT_THAT(text, HasSubstr("test accuracy  92.00 %"));
  EXPECT_THAT(text, HasSubstr("step-0000001200.ckpt      2    1,200"));
  EXPECT_THAT(text, HasSubstr("the data is not here"));
  const auto object = nlohmann::json::parse(output_of({"inspect", run, "--json"}));
  EXPECT_EQ(object["summary"]["workers"], 2);
  EXPECT_EQ(object["checkpoints"][0]["name"], "step-0000000600.ckpt");
}

TEST_F(InspectRun, FitsTheTerminal) {
  const auto tables = output_of({"inspect", run_.string()});
  for (const std::string& line : split(tables.substr(tables.find("# What it needs")), '\n')) {
    EXPECT_LE(display_width(line), 80U) << line;
  }
}

TEST_F(InspectRun, OfACheckpointShowsADigestOfItsParameters) {
  const auto inspect = [&](std::uint64_t version) {
    const std::string file = checkpoint_path(run_, version).string();
    return nlohmann::json::parse(output_of({"inspect", file, "--json"}));
  };
  const auto first = inspect(600);
  EXPECT_EQ(first["version"], 600);
  EXPECT_EQ(first["tensors"][0]["shape"], nlohmann::json({10, 256}));
  EXPECT_NE(first["digest"], inspect(1200)["digest"]);
  write(1800, 1);
  EXPECT_EQ(first["digest"], inspect(1800)["digest"]);
  // `printf '\0\0\200\077' | cat - /dev/zero | head -c 10280 | sha256sum`
  EXPECT_EQ(first["digest"], "703b24c4343ec000ecc3f1339f678f74e15739c4400ef7e22e63350745121ce9");

  const std::string copy = (folder_.path() / "copy").string();  // known by its content
  std::filesystem::copy_file(checkpoint_path(run_, 600), copy);
  const std::string text = output_of({"inspect", copy});
  EXPECT_THAT(text, HasSubstr("60000 examples in batches of 100"));
  EXPECT_THAT(text, HasSubstr(first["digest"].get<std::string>()));
  EXPECT_THAT(text, HasSubstr("10 × 256"));
  EXPECT_THAT(output_of({"inspect", run_.string()}),
              HasSubstr(first["digest"].get<std::string>().substr(0, 16) + "\n"));
}

TEST_F(InspectRun, ShowsTheOthersWhenACheckpointIsDamagedAndFails) {
  damage(600);
  const std::string file = checkpoint_path(run_, 600).string();
  for (const std::string& target : {file, run_.string()}) {
    EXPECT_THAT(message_of<DataError>([&] {
                  output_of({"inspect", target});
                }),
                testing::StartsWith(file + " is damaged"));
  }
  EXPECT_THAT(out_.str(), HasSubstr("damaged"));
  EXPECT_THAT(out_.str(), HasSubstr("step-0000001200.ckpt      2    1,200"));
}

TEST_F(Commands, InspectRefusesRecipesThatAreWrong) {
  actions_.estimate = [](const RunConfig& config) -> nlohmann::json {
    if (config.servers > 10) throw ConfigError("too many servers");
    return {};
  };
  const auto refusal_of = [&](const std::string& text) {
    const std::string file = folder_.write("own.toml", "schema = 1\n" + text).string();
    return message_of<ConfigError>([&] { output_of({"inspect", file}); });
  };
  EXPECT_THAT(refusal_of("batch = 10\ntile = 11\n"), HasSubstr("--tile 11 is larger"));
  EXPECT_EQ(refusal_of("servers = 11\n"), "too many servers");
}

TEST_F(Commands, InspectRefusesFoldersThatAreNoRunAndDamagedSummaries) {
  const std::string folder = folder_.path().string();
  EXPECT_EQ(message_of<DataError>([&] {
              output_of({"inspect", folder});
            }),
            folder + " is not a run directory: it has no config.toml");
  folder_.write("config.toml", config_toml(RunConfig{}));
  folder_.write("summary.json", "{ half");
  EXPECT_EQ(message_of<DataError>([&] {
              output_of({"inspect", folder});
            }),
            folder + "/summary.json is damaged: it is no JSON object");
  for (const char* wrong : {"[]", "5"}) {
    folder_.write("summary.json", wrong);
    EXPECT_THAT(message_of<DataError>([&] {
                  output_of({"inspect", folder});
                }),
                HasSubstr("it is no JSON object"));
  }
  for (const char* wrong : {R"({"roles": 5})", R"({"roles": {"a": 1}})", R"({"roles": [1, 2]})",
                            R"({"steps_skipped": "many"})", R"({"unreadable_files": [7]})"}) {
    folder_.write("summary.json", wrong);
    EXPECT_THAT(message_of<DataError>([&] {
                  output_of({"inspect", folder});
                }),
                HasSubstr("the summary is damaged"))
        << wrong;
  }
}

TEST_F(Commands, DataListSaysWhatIsThere) {
  const std::string text = output_of({"data", "list"});
  EXPECT_THAT(text, HasSubstr("mnist"));
  EXPECT_THAT(text, HasSubstr("not here"));
  const auto object = nlohmann::json::parse(output_of({"data", "list", "--json"}));
  EXPECT_EQ(object["datasets"].size(), known_set_names().size());
  EXPECT_EQ(object["datasets"][0]["here"], false);
}

// Files of the right sizes that hold nothing but zeros.
class DamagedCache : public Commands {
 protected:
  DamagedCache() {
    const KnownSet set = known_set("mnist");
    std::string sums;
    for (const DataFile& file : set.files) {
      const auto path = folder_.write("cache/mnist/" + file.name, "");
      std::filesystem::resize_file(path, file.bytes);
      sums += file.sha256 + "  " + file.name + "\n";
    }
    folder_.write("cache/mnist/SHA256SUMS", sums);
  }
  std::string first_file_ = (environment_.cache_dir / "mnist" / kTrainImages).string();
};

TEST_F(DamagedCache, IsFoundByListWhenAsked) {
  EXPECT_THAT(output_of({"data", "list"}), HasSubstr("here"));
  EXPECT_THAT(message_of<DataError>([&] {
                output_of({"data", "list", "--verify"});
              }),
              testing::StartsWith(first_file_ + " is damaged: its SHA-256 is "));
  EXPECT_THAT(out_.str(), HasSubstr("damaged"));
}

TEST_F(DamagedCache, ShowsFilesThatWereCutOff) {
  std::filesystem::resize_file(first_file_, 0);
  EXPECT_THAT(output_of({"data", "list"}), HasSubstr("incomplete"));
}

TEST_F(DamagedCache, IsNotTrainedOn) {
  actions_ = make_actions();
  const std::string run = (folder_.path() / "run").string();
  EXPECT_THAT(message_of<DataError>([&] {
                output_of({"train", "mnist", "--run-dir", run});
              }),
              testing::EndsWith("Replace it with: paceline data get mnist --data-dir " +
                                environment_.cache_dir.string()));
  EXPECT_FALSE(std::filesystem::exists(run));
}

// A cache that is of use, one whose text has changed, and files that are no caches.
class KeptRows : public Commands {
 protected:
  KeptRows() {
    good_ = read("good.svm");
    stale_ = read("stale.svm");
    folder_.write("stale.svm", "1 1:1\n0 2:2\n1 5:1\n");
    folder_.write("cache/rows/notes.txt", "mine");
    folder_.write("cache/rows/mine.0123456789abcdef.rows", "not a cache, whatever its name");
  }
  std::string read(const std::string& name) {
    RowSource source;
    source.files = folder_.write(name, "1 1:1\n0 2:2\n");
    source.format.bits = 8;
    source.cache_dir = environment_.cache_dir / "rows";
    open_rows(source, Split::kTrain);
    return cache_path(source, Split::kTrain).filename();
  }
  std::vector<std::string> left() const { return names_in(environment_.cache_dir / "rows"); }

  std::string good_;
  std::string stale_;
};

TEST_F(KeptRows, AreListedWithWhatTheyWereMadeOf) {
  EXPECT_THAT(
      output_of({"data", "list"}),
      AllOf(HasSubstr(good_), HasSubstr("usable"), HasSubstr("good.svm"), HasSubstr("2 rows"),
            HasSubstr("file changed"), HasSubstr("data clean"), Not(HasSubstr("mine.0123"))));
  const auto kept = nlohmann::json::parse(output_of({"data", "list", "--json"}))["row_caches"];
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0]["name"], good_);
  EXPECT_EQ(kept[0]["rows"], 2);
  EXPECT_EQ(kept[0]["files"][0], (folder_.path() / "good.svm").string());
  EXPECT_EQ(kept[1]["state"], "file changed");
}

TEST_F(KeptRows, AreRemovedWhenTheyAreOfNoUse) {
  EXPECT_THAT(output_of({"data", "clean", "--dry-run"}), HasSubstr("would remove"));
  EXPECT_EQ(left().size(), 4U);
  EXPECT_THAT(output_of({"data", "clean"}),
              AllOf(HasSubstr("removed " + (environment_.cache_dir / "rows" / stale_).string()),
                    HasSubstr("file changed"), Not(HasSubstr(good_))));
  EXPECT_THAT(left(),
              testing::UnorderedElementsAre(good_, "mine.0123456789abcdef.rows", "notes.txt"));
  EXPECT_THAT(output_of({"data", "clean"}), HasSubstr("nothing to remove"));
}

TEST_F(KeptRows, AreRemovedByNameOrAllTogether) {
  EXPECT_THAT(message_of<ConfigError>([&] {
                output_of({"data", "clean", good_, "notes.txt"});
              }),
              HasSubstr("there is no cache of rows 'notes.txt'"));
  EXPECT_EQ(left().size(), 4U);
  EXPECT_THROW(output_of({"data", "clean", good_, "--all"}), ConfigError);
  output_of({"data", "clean", good_});
  EXPECT_EQ(left().size(), 3U);
  output_of({"data", "clean", "--all"});
  EXPECT_THAT(left(), testing::UnorderedElementsAre("mine.0123456789abcdef.rows", "notes.txt"));
}

TEST_F(Commands, DataNeedsAPlace) {
  environment_.cache_dir.clear();
  for (const auto& words : {std::vector<std::string>{"data", "list"},
                            {"data", "get", "mnist"},
                            {"data", "clean"},
                            {"bench", "softmax"}}) {
    EXPECT_THAT(message_of<ConfigError>([&] { output_of(words); }), HasSubstr("--data-dir"));
  }
  actions_.bench = [](const BenchOptions&, std::ostream& out) { out << "figures"; };
  EXPECT_EQ(output_of({"bench", "--list"}), "figures");
}

TEST_F(Commands, TrainSaysWhereTheRunIsWhenItsOutputIsLost) {
  actions_.train = [this](const RunConfig&, Reporter& reporter) {
    out_.setstate(std::ios::badbit);  // as when `head` has seen enough
    reporter.notice("not seen");
  };
  output_of({"train", "mnist", "--run-dir", "runs/here"});
  EXPECT_EQ(err_.str(), "note: the output could not be written; the run is in runs/here\n");
}

TEST_F(Commands, DataGetRefusesUnknownNamesBeforeItFetches) {
  EXPECT_THAT(message_of<ConfigError>([&] {
                output_of({"data", "get", "mnist", "minst"});
              }),
              HasSubstr("minst"));
  EXPECT_FALSE(std::filesystem::exists(environment_.cache_dir));
}

TEST_F(Commands, SettingsListsThemAll) {
  const std::string text = output_of({"settings"});
  for (const std::string& key : flag_keys()) EXPECT_THAT(text, HasSubstr(key + " = "));
  EXPECT_EQ(output_of({"settings", "--markdown"}), settings_markdown());
}

TEST_F(Commands, BenchAndRoleReachTheirActions) {
  actions_.bench = [](const BenchOptions& options, std::ostream& out) { out << options.names[0]; };
  EXPECT_EQ(output_of({"bench", "softmax.batch10"}), "softmax.batch10");
  std::string ran;
  actions_.role = [&](const RoleOptions& options) { ran = options.name; };
  output_of({"role", "chief", "--spec-fd", "5"});
  EXPECT_EQ(ran, "chief");
}

}  // namespace
}  // namespace paceline

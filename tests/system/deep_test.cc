// Whole runs of models on libtorch, which the program loads when it needs them.
#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "base/process.h"
#include "base/random.h"
#include "data/prepared_file.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Reviews that are good when "good" is among their words.
class ReviewsRun : public SyntheticRun {
 protected:
  ReviewsRun() {
    Random random(3);
    std::string lines;
    for (int i = 0; i < 600; ++i) {
      const bool good = random.below(2) == 1;
      std::string text;
      const std::uint64_t length = 2 + random.below(6);
      const std::uint64_t place = random.below(length);
      for (std::uint64_t w = 0; w < length; ++w) {
        text += good && w == place ? " good" : " word" + std::to_string(random.below(20));
      }
      lines += (good ? "1\t" : "0\t") + text + "\n";
    }
    write_atomically(path("reviews.tsv"), lines);
  }

  Arguments reviews(const std::string& name, const Arguments& more) const {
    // clang-format off
    Arguments arguments = {
        "train", "sentiment", "--run-dir", path(name).string(), "--quiet", "--data", "reviews",
        "--data-file", path("reviews.tsv").string(), "--vocabulary", "30", "--test-share", "0.2",
        "--embedding", "8", "--hidden", "8", "--dropout", "0", "--rate", "0.02",
        "--batch", "50", "--epochs", "8"};
    // clang-format on
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(ReviewsRun, LearnsAndIsTheSameHoweverItIsCut) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"one", {"--workers", "1"}},
           {"ps", {"--workers", "2", "--servers", "2"}},
           {"ring", {"--workers", "2", "--exchange", "allreduce"}},
           {"step", {"--workers", "2", "--rnn", "step"}}}) {
    const Result result = paceline(reviews(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_GT(summary(name)["test_accuracy"], 0.95) << name;
    EXPECT_GT(summary(name)["test_f1"], 0.95) << name;
    EXPECT_NEAR(summary(name)["train_loss"].get<double>(),
                summary("one")["train_loss"].get<double>(), 1e-3)
        << name;
  }
  const Result tested = paceline({"evaluate", path("ring").string(), "--json"});
  ASSERT_EQ(tested.code, 0) << tested.output;
  EXPECT_NEAR(nlohmann::json::parse(tested.output)["accuracy"].get<double>(),
              summary("ring")["test_accuracy"].get<double>(), 1e-9);
}

// With Adam, which moves what it remembers: untouched rows stay as they are in every exchange.
TEST_F(ReviewsRun, OnlyRowsThatAStepTouchesTravel) {
  Random random(5);
  std::string lines;
  for (int i = 0; i < 400; ++i) {
    lines += std::to_string(random.below(2)) + "\t";
    for (int w = 0; w < 5; ++w) lines += " word" + std::to_string(random.below(2000));
    lines += "\n";
  }
  write_atomically(path("rare.tsv"), lines);
  const Arguments rare = {"--data-file",  path("rare.tsv").string(),
                          "--vocabulary", "2000",
                          "--embedding",  "32",
                          "--batch",      "20",
                          "--epochs",     "2"};
  const auto run = [&](const std::string& name, const Arguments& more) {
    Arguments all = rare;
    all.insert(all.end(), more.begin(), more.end());
    const Result result = paceline(reviews(name, all));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
  };
  run("local", {"--exchange", "local", "--workers", "1", "--deterministic"});
  run("ps", {"--workers", "2", "--servers", "2", "--deterministic"});
  EXPECT_EQ(parameters("ps"), parameters("local"));
  run("async", {"--workers", "2", "--servers", "2", "--mode", "async"});
  run("halves", {"--workers", "2", "--wire", "bf16"});
  for (const char* name : {"ps", "async", "halves"}) {
    const double steps = 2 * 320 / 20.0;
    const double all = steps * static_cast<double>(parameters(name).size() * sizeof(float));
    const nlohmann::json roles = summary(name)["roles"];
    for (const nlohmann::json& role : roles) {
      if (role["role"] != "worker") continue;
      // Who joins anew, as an asynchronous worker does when it was idle, is sent all of them.
      if (std::string(name) != "async") {
        EXPECT_LT(role["bytes_in"].get<double>(), all / 5) << name;
      }
      EXPECT_LT(role["bytes_out"].get<double>(), all / 5) << name;
      EXPECT_GT(role["bytes_in"].get<double>(), 0) << name;
    }
  }
}

TEST_F(ReviewsRun, LearnsFromNumbersThatWerePrepared) {
  constexpr std::size_t kReviews = 600;
  constexpr std::size_t kLength = 6;
  Random random(5);
  std::vector<std::string> words = {"good"};
  for (int i = 0; i < 19; ++i) words.push_back("word" + std::to_string(i));
  std::vector<std::uint16_t> ids(kReviews * kLength);
  std::vector<std::uint8_t> labels(kReviews);
  for (std::size_t i = 0; i < kReviews; ++i) {
    labels[i] = static_cast<std::uint8_t>(random.below(2));
    const std::uint64_t length = 2 + random.below(kLength - 1);
    for (std::uint64_t w = 0; w < length; ++w) {
      ids[i * kLength + w] = static_cast<std::uint16_t>(5 + random.below(19));
    }
    if (labels[i] == 1) ids[i * kLength + random.below(length)] = 4;
  }
  // In texts that are predicted, words that were left out would take the place of the others.
  PreparedFile(path("reviews.h5"))
      .version(1)
      .words(words)
      .stop_words({"the"})
      .part("train", kLength, ids, labels);
  // clang-format off
  const Result trained = paceline({
      "train", "sentiment", "--run-dir", path("run").string(), "--quiet", "--data", "reviews",
      "--data-file", path("reviews.h5").string(), "--test-share", "0.2", "--order", "blocks",
      "--order-block", "64", "--order-window", "4", "--embedding", "8", "--hidden", "8",
      "--dropout", "0", "--rate", "0.02", "--batch", "50", "--epochs", "8"});
  // clang-format on
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_GT(summary("run")["test_accuracy"], 0.95);
  EXPECT_THAT(read_text(path("run") / "config.toml"), HasSubstr("vocabulary = 24\n"));
  EXPECT_EQ(read_text(path("run") / "stop_words.txt"), "the\n");
  write_atomically(path("lines.txt"),
                   "word1 word2 good word3\nword1 word2 word3\n"
                   "the the the the the the word1 good\n");
  const Result found =
      paceline({"predict", path("run").string(), "--input", path("lines.txt").string()});
  EXPECT_EQ(found.output, "1\n0\n1\n");
}

TEST_F(ReviewsRun, LabelsLinesOfText) {
  ASSERT_EQ(paceline(reviews("run", {})).code, 0);
  write_atomically(path("lines.txt"), "word1 word2 good word3\n\nword1 word2 word3");
  const Result labels =
      paceline({"predict", path("run").string(), "--input", path("lines.txt").string()});
  EXPECT_THAT(labels.output, MatchesRegex("1\n[01]\n0\n"));
  write_atomically(path("lines.txt"), "");
  EXPECT_EQ(
      paceline({"predict", path("run").string(), "--input", path("lines.txt").string()}).output,
      "");
  write_atomically(path("lines.txt"), "\n\n");
  const Result blank =
      paceline({"predict", path("run").string(), "--input", path("lines.txt").string()});
  EXPECT_THAT(blank.output, MatchesRegex("[01]\n[01]\n"));
}

TEST_F(ReviewsRun, TranslatesSentences) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "one two.\tun deux .\ntwo one!\tdeux un !\n";
  write_atomically(path("pairs.tsv"), lines + "three\ttrois\nfour\tquatre\nfive\tcinq\n");
  // clang-format off
  const Result trained = paceline({
      "train", "translation", "--run-dir", path("run").string(), "--quiet",
      "--data-file", path("pairs.tsv").string(), "--test-file", path("pairs.tsv").string(),
      "--vocabulary", "20", "--embedding", "8", "--hidden", "16", "--rate", "0.02",
      "--batch", "50", "--epochs", "8"});
  // clang-format on
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_GT(summary("run")["test_accuracy"], 0.95);
  EXPECT_GT(summary("run")["words_per_second"], summary("run")["examples_per_second"]);
  write_atomically(path("lines.txt"), "One two.\n\nTwo one!\n");
  const Result answers =
      paceline({"predict", path("run").string(), "--input", path("lines.txt").string()});
  EXPECT_EQ(answers.output, "un deux .\n\ndeux un !\n");
  write_atomically(path("lines.txt"), "");
  const Result nothing =
      paceline({"predict", path("run").string(), "--input", path("lines.txt").string()});
  EXPECT_EQ(nothing.code, 0) << nothing.output;
  EXPECT_EQ(nothing.output, "");
}

// A network from Python is trained here; its weights go back, and both answer the same.
TEST_F(SyntheticRun, ANetworkFromPythonComesBackTrained) {
  const auto python = [&](const std::string& source) {
    write_atomically(path("script.py"), R"(
import struct, sys, torch
torch.manual_seed(1)
from torch import nn
net = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 3))
)" + source);
    std::string output;
    const Finished finished =
        paceline::run({.arguments = {"/usr/bin/python3", path("script.py").string()},
                       .output = {},
                       .keep = {},
                       .dies_with_parent = true,
                       .directory = dir_.path().string()},
                      &output);
    EXPECT_TRUE(finished.ok()) << output;
    return output;
  };
  python("torch.jit.save(torch.jit.script(net), 'net.pt')");
  // clang-format off
  const Result trained = paceline({
      "train", "synthetic", "--run-dir", path("run").string(), "--quiet", "--model",
      path("net.pt").string(), "--synthetic-width", "12", "--synthetic-classes", "3",
      "--synthetic-examples", "600", "--batch", "60", "--epochs", "5", "--rate", "0.5"});
  // clang-format on
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_GT(summary("run")["test_accuracy"], 0.7);
  const Result exported = paceline({"export", path("run").string(), path("out.pt").string()});
  ASSERT_EQ(exported.code, 0) << exported.output;
  const std::string theirs = python(R"(
net.load_state_dict(torch.load('out.pt'))
rows = torch.arange(5 * 12, dtype=torch.uint8).view(5, 3, 4) * 4
with open('images.idx', 'wb') as file:
    file.write(struct.pack('>IIII', 0x803, 5, 3, 4) + bytes(rows.flatten().tolist()))
for row in net(rows.view(5, 12) / 255).softmax(1):
    print(int(row.argmax()), *('%.3f' % p for p in row), sep='\t')
)");
  const Result ours = paceline(
      {"predict", path("run").string(), "--input", path("images.idx").string(), "--probabilities"});
  ASSERT_EQ(ours.code, 0) << ours.output;
  std::istringstream ours_in(ours.output), theirs_in(theirs);
  for (int i = 0; i < 5 * 4; ++i) {
    double a = -1, b = -2;
    ours_in >> a;
    theirs_in >> b;
    EXPECT_NEAR(a, b, 0.001) << i << "\n" << ours.output << theirs;
  }
}

TEST_F(ReviewsRun, RefusesDataThatDoNotFit) {
  const Result images = paceline({"train", "sentiment", "--data", "synthetic", "--run-dir",
                                  path("run").string(), "--vocabulary", "30"});
  EXPECT_NE(images.code, 0);
  const Result other =
      paceline({"train", "synthetic", "--model", "sentiment", "--run-dir", path("run").string()});
  EXPECT_EQ(other.code, 2) << other.output;
  EXPECT_THAT(other.output, HasSubstr("sentiment learns from texts with labels"));
  write_atomically(path("reviews.tsv"), "1\tgood\nno label here\n");
  const Result broken = paceline(reviews("run", {}));
  EXPECT_EQ(broken.code, 3) << broken.output;
  EXPECT_THAT(broken.output, HasSubstr("line 2: expected LABEL<tab>TEXT"));
}

}  // namespace
}  // namespace paceline

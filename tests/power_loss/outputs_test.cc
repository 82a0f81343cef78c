// What is written for others: exports, predictions, and the names that belong to a trained model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "base/paths.h"
#include "base/temp_dir.h"
#include "data/catalogue/open.h"
#include "data/text.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class PowerLossOfOutputs : public testing::Test {
 protected:
  PowerLossOfOutputs() {
    fs::create_directory(disk());
    std::string text;
    for (int i = 0; i < 300; ++i) text += fmt::format("{} {}:1 {}:0.5\n", i % 2, i % 7, 10 + i);
    write_atomically(dir_ / "rows.svm", text);
  }
  fs::path disk() const { return dir_ / "disk"; }

  // `file` of the disk is as it was before, or as it is in the end; or not there, if it was not.
  void expect_old_or_new(const DiskLog& log, const std::string& file,
                         const std::optional<std::string>& before) {
    ASSERT_EQ(log.exit_code, 0) << log.output;
    const std::string whole = read_text(disk() / file);
    ASSERT_TRUE(!whole.empty() && whole != before);
    after_crashes(log, 60, disk(), [&](const Crash& crash) {
      const bool there = fs::exists(disk() / file);
      const bool is_new = there && read_text(disk() / file) == whole;
      if (is_at_end(log, crash)) {
        EXPECT_TRUE(is_new);
      } else {
        EXPECT_TRUE(is_new || (before ? there && read_text(disk() / file) == *before : !there));
      }
    });
  }

  TempDir dir_;
};

TEST_F(PowerLossOfOutputs, ExportsAndPredictionsAreWholeOrNotThere) {
  fs::create_directory(dir_ / "runs");
  // clang-format off
  const DiskLog trained = record(dir_ / "runs",
      {program_path(), "train", "clicks", "--quiet", "--run-dir", dir_ / "runs/one",
       "--data-file", dir_ / "rows.svm", "--cache-dir", dir_ / "runs", "--bits", "10",
       "--batch", "50", "--epochs", "1"});
  // clang-format on
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const Words exports = {program_path(), "export", dir_ / "runs/one", disk() / "weights.tsv"};
  expect_old_or_new(record(disk(), exports), "weights.tsv", std::nullopt);
  const Words predicts = {program_path(),    "predict",  dir_ / "runs/one",    "--input",
                          dir_ / "rows.svm", "--output", disk() / "labels.txt"};
  expect_old_or_new(record(disk(), predicts), "labels.txt", std::nullopt);
  fs::remove_all(disk());
  fs::create_directory(disk());
  write_atomically(disk() / "labels.txt", "of yesterday");
  expect_old_or_new(record(disk(), predicts), "labels.txt", "of yesterday");
}

// Of the run that was there before, or of this one.
TEST_F(PowerLossOfOutputs, VocabulariesAreWhole) {
  const auto write = [&](std::vector<std::string> words) {
    write_vocabularies(TextKind::kReviews, {Vocabulary(std::move(words))}, disk());
  };
  write({"old"});
  std::vector<std::string> words;
  for (int i = 0; i < 2000; ++i) words.push_back(fmt::format("word{}", i));
  const DiskLog log = record(disk(), [&] {
    write(words);
    return 0;
  });
  expect_old_or_new(log, vocabulary_name(TextKind::kReviews, 0), "old\n");
}

TEST_F(PowerLossOfOutputs, NamesOfClassesAreWhole) {
  DataOptions data;
  data.name = "images";
  data.text.file = dir_ / "images";
  for (int i = 0; i < 500; ++i) {
    const fs::path folder = dir_ / fmt::format("images/class{}", i);
    fs::create_directories(folder);
    write_atomically(folder / "one.png", "");
  }
  const DiskLog log = record(disk(), [&] {
    write_classes(data, disk());
    return 0;
  });
  expect_old_or_new(log, kClassNames, std::nullopt);
}

}  // namespace
}  // namespace paceline

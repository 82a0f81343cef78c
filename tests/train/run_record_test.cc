#include "train/run_record.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "base/file/file.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RunRecordTest : public ::testing::Test {
 protected:
  RunRecordTest() {
    EXPECT_EQ(::pipe2(pipe_, O_NONBLOCK), 0);
    config_.run_dir = dir_.path();
    config_.epochs = 2;
    record_.emplace(config_, Grid{100, 10, 1}, pipe_[1]);
  }
  ~RunRecordTest() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  std::string told() const {
    std::string text(1 << 17, ' ');
    const ssize_t got = ::read(pipe_[0], text.data(), text.size());
    return text.substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  std::string metrics() {
    record_->write_out();
    return read_text(dir_.path() / "metrics.jsonl");
  }
  static wire::Complete sums(double loss, double weight, std::uint64_t version = 0) {
    wire::Complete sums;
    sums.set_loss(loss);
    sums.set_weight(weight);
    sums.set_version(version);
    sums.set_pinned(version > 0);
    return sums;
  }

  TempDir dir_;
  int pipe_[2];
  RunConfig config_;
  std::optional<RunRecord> record_;
};

TEST_F(RunRecordTest, TellsThatTheRunHasBegun) {
  record_->begun(0);
  EXPECT_EQ(told(), "{\"examples_done\":0,\"type\":\"begun\"}\n");
}

TEST_F(RunRecordTest, ProgressGoesToTheLauncherAndTheFile) {
  record_->begun(0);
  record_->progress(30, sums(15, 30));
  EXPECT_THAT(told(), HasSubstr("\"train_loss\":0.5"));
  EXPECT_THAT(metrics(), HasSubstr("\"examples_done\":30"));
}

TEST_F(RunRecordTest, ProgressOfExamplesThatWeighNothingHasNoLossToTell) {
  record_->begun(0);
  record_->progress(30, sums(0, 0));
  EXPECT_THAT(told(), Not(HasSubstr("progress")));
  record_->progress(60, sums(15, 30));
  EXPECT_THAT(told(), HasSubstr("\"examples_done\":60"));
}

// By whoever takes the place of one that told a part of them.
TEST_F(RunRecordTest, SumsOfAWholeEpochReplaceWhatWasToldOfIt) {
  record_->begun(0);
  record_->progress(100, sums(40, 100, 10));
  record_->untested(0, 10);
  wire::Complete some = sums(15, 30);
  some.set_examples(30);
  some.set_predictions(30);
  some.set_skipped(1);
  record_->progress(130, some);
  wire::Complete whole = sums(20, 100, 20);
  whole.set_examples(100);
  whole.set_predictions(100);
  whole.set_skipped(2);
  whole.set_whole(true);
  record_->progress(200, whole);
  record_->untested(1, 20);
  const auto summary = record_->summary(200, nlohmann::json::array(), std::nullopt);
  EXPECT_EQ(summary["train_loss"], 0.2);
  EXPECT_EQ(summary["steps_skipped"], 2);
  EXPECT_THAT(metrics(), HasSubstr("\"examples\":100"));
}

TEST_F(RunRecordTest, UnreadableFilesAreNamedOnceInTheSummary) {
  const std::vector<std::string> first = {"b", "a"};
  EXPECT_THAT(record_->add_unreadable(Split::kTrain, first), ElementsAre("a", "b"));
  EXPECT_THAT(record_->add_unreadable(Split::kTrain, std::vector<std::string>{"a", "c"}),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(record_->add_unreadable(Split::kTest, first), ElementsAre("a", "b"));
  const nlohmann::json summary = record_->summary(0, nlohmann::json::array(), std::nullopt);
  EXPECT_EQ(summary["unreadable"], 3);
  EXPECT_EQ(summary["unreadable_files"], nlohmann::json({"a", "b", "c"}));
}

TEST_F(RunRecordTest, NamesOfFilesNeedNotBeText) {
  record_->add_unreadable(Split::kTrain, std::vector<std::string>{"caf\xe9.jpg"});
  record_->notice("caf\xe9");
  record_->summary(0, nlohmann::json::array(), DataError("caf\xe9.jpg is damaged"));
  const nlohmann::json written = nlohmann::json::parse(read_text(dir_ / "summary.json"));
  EXPECT_EQ(written["unreadable_files"], nlohmann::json({"caf\uFFFD.jpg"}));
}

TEST_F(RunRecordTest, ALauncherThatDoesNotReadStopsNothing) {
  record_->begun(0);
  const std::string filler(4096, 'x');
  while (::write(pipe_[1], filler.data(), filler.size()) > 0) {
  }
  for (std::uint64_t version = 10; version <= 10'000; version += 10) {
    record_->progress(10 * version, sums(40, 100, version));
    record_->untested(version / 10 - 1, version);
  }
  record_->warning("look here");
  EXPECT_NE(metrics().find("\"version\":10000}"), std::string::npos);
  std::string all;
  for (int i = 0; i < 10; ++i, record_->flush()) all += told();
  const auto contains = [&](const char* text) { return all.find(text) != std::string::npos; };
  EXPECT_TRUE(contains("\"version\":10}"));
  EXPECT_FALSE(contains("\"version\":10000}"));  // nobody wants a thousand old epochs
  EXPECT_TRUE(contains("look here"));
}

TEST_F(RunRecordTest, AnEpochWhoseTestDidNotComeIsInTheSummary) {
  record_->begun(0);
  record_->progress(100, sums(40, 100, 10));
  const auto summary = record_->summary(100, nlohmann::json::array(), Interrupted("interrupted"));
  EXPECT_EQ(summary["epochs"], 1);
  EXPECT_THAT(metrics(), HasSubstr("\"type\":\"epoch\""));
}

TEST_F(RunRecordTest, ALossThatIsNotFiniteIsWrittenAsNull) {
  record_->begun(0);
  record_->progress(30, sums(std::numeric_limits<double>::quiet_NaN(), 30));
  EXPECT_THAT(metrics(), HasSubstr("\"train_loss\":null"));
}

TEST_F(RunRecordTest, TheSummaryHasTheLastEpochAndWhatWasDone) {
  record_->begun(100);
  record_->progress(200, sums(40, 100, 20));
  wire::Evaluated evaluated;
  evaluated.set_version(20);
  evaluated.set_epoch(1);
  evaluated.set_accuracy(0.75);
  record_->evaluated(evaluated);
  const auto summary = record_->summary(200, nlohmann::json::array(), std::nullopt);
  EXPECT_EQ(summary["status"], "complete");
  EXPECT_EQ(summary["examples"], 100);
  EXPECT_EQ(summary["examples_total"], 200);
  EXPECT_EQ(summary["test_accuracy"], 0.75);
  EXPECT_EQ(summary["train_loss"], 0.4);
  EXPECT_EQ(nlohmann::json::parse(read_text(dir_.path() / "summary.json")), summary);
}

TEST_F(RunRecordTest, AnEpochWithoutATestIsWrittenDownToo) {
  record_->begun(0);
  record_->progress(100, sums(40, 100, 10));
  record_->untested(0, 10);
  EXPECT_THAT(metrics(), HasSubstr("\"test_accuracy\":null"));
  const auto summary = record_->summary(100, nlohmann::json::array(), std::nullopt);
  EXPECT_EQ(summary["epochs"], 1);
  EXPECT_EQ(summary["train_loss"], 0.4);
  EXPECT_TRUE(summary["test_accuracy"].is_null());
}

TEST_F(RunRecordTest, AModelThatPredictsNumbersHasAnErrorInThePlaceOfAnAccuracy) {
  config_.model.name = "regression";
  record_.emplace(config_, Grid{100, 10, 1}, pipe_[1]);
  record_->begun(0);
  record_->progress(100, sums(40, 100, 10));
  wire::Evaluated evaluated;
  evaluated.set_version(10);
  evaluated.set_rmse(1.5);
  record_->evaluated(evaluated);
  record_->progress(200, sums(40, 100, 20));
  record_->untested(1, 20);
  const auto summary = record_->summary(200, nlohmann::json::array(), std::nullopt);
  EXPECT_EQ(summary["epoch_results"][0]["test_rmse"], 1.5);
  EXPECT_TRUE(summary["test_rmse"].is_null());
  EXPECT_FALSE(summary.contains("test_accuracy"));
  EXPECT_THAT(metrics(), Not(HasSubstr("accuracy")));
}

TEST_F(RunRecordTest, AResumedRunRemembersTheEpochsItsCheckpointHolds) {
  const auto lived = [&](std::uint64_t version, double accuracy) {
    record_->progress(10 * version, sums(40, 100, version));
    wire::Evaluated evaluated;
    evaluated.set_version(version);
    evaluated.set_epoch(version / 10 - 1);
    evaluated.set_accuracy(accuracy);
    record_->evaluated(evaluated);
  };
  record_->begun(0);
  lived(10, 0.5);
  lived(20, 0.6);
  lived(30, 0.1);  // beyond the checkpoint
  record_.emplace(config_, Grid{100, 10, 1}, pipe_[1]);
  record_->resumed(checkpoint_path(dir_.path(), 20), 20);
  record_->begun(200);
  lived(30, 0.7);
  const auto summary = record_->summary(300, nlohmann::json::array(), std::nullopt);
  EXPECT_EQ(summary["epochs"], 3);
  EXPECT_EQ(summary["epoch_results"][1]["test_accuracy"], 0.6);
  EXPECT_EQ(summary["test_accuracy"], 0.7);
}

TEST_F(RunRecordTest, ARunThatFailedSaysWhy) {
  record_->begun(0);
  const DataError failure(Error("why that"), "a reason");
  const auto summary = record_->summary(10, nlohmann::json::array(), failure);
  EXPECT_EQ(summary["status"], "incomplete");
  EXPECT_EQ(summary["error"], "a reason: why that");
  EXPECT_TRUE(summary["test_accuracy"].is_null());
}

}  // namespace
}  // namespace paceline

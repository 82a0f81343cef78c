#include "train/journal.h"

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

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() {
    EXPECT_EQ(::pipe2(pipe_, O_NONBLOCK), 0);
    config_.run_dir = dir_.path();
    config_.epochs = 2;
    journal_.emplace(config_, Grid{100, 10, 1}, pipe_[1]);
  }
  ~JournalTest() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  std::string told() const {
    std::string text(1 << 17, ' ');
    const ssize_t got = ::read(pipe_[0], text.data(), text.size());
    return text.substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  std::string metrics() {
    journal_->write_out();
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
  std::optional<Journal> journal_;
};

TEST_F(JournalTest, TellsThatTheRunHasBegun) {
  journal_->begun(0);
  EXPECT_EQ(told(), "{\"examples_done\":0,\"type\":\"begun\"}\n");
}

TEST_F(JournalTest, ProgressGoesToTheLauncherAndTheFile) {
  journal_->begun(0);
  journal_->progress(30, sums(15, 30));
  EXPECT_THAT(told(), HasSubstr("\"train_loss\":0.5"));
  EXPECT_THAT(metrics(), HasSubstr("\"examples_done\":30"));
}

TEST_F(JournalTest, ProgressOfExamplesThatWeighNothingHasNoLossToTell) {
  journal_->begun(0);
  journal_->progress(30, sums(0, 0));
  EXPECT_THAT(told(), Not(HasSubstr("progress")));
  journal_->progress(60, sums(15, 30));
  EXPECT_THAT(told(), HasSubstr("\"examples_done\":60"));
}

TEST_F(JournalTest, UnreadableFilesAreNamedOnceInTheSummary) {
  const std::vector<std::string> first = {"b", "a"};
  EXPECT_THAT(journal_->add_unreadable(Split::kTrain, first), ElementsAre("a", "b"));
  EXPECT_THAT(journal_->add_unreadable(Split::kTrain, std::vector<std::string>{"a", "c"}),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(journal_->add_unreadable(Split::kTest, first), ElementsAre("a", "b"));
  const nlohmann::json summary = journal_->summary(0, nlohmann::json::array(), "");
  EXPECT_EQ(summary["unreadable"], 3);
  EXPECT_EQ(summary["unreadable_files"], nlohmann::json({"a", "b", "c"}));
}

TEST_F(JournalTest, ALauncherThatDoesNotReadStopsNothing) {
  journal_->begun(0);
  const std::string filler(4096, 'x');
  while (::write(pipe_[1], filler.data(), filler.size()) > 0) {
  }
  for (std::uint64_t version = 10; version <= 10'000; version += 10) {
    journal_->progress(10 * version, sums(40, 100, version));
    journal_->untested(version / 10 - 1, version);
  }
  journal_->warning("look here");
  EXPECT_NE(metrics().find("\"version\":10000}"), std::string::npos);
  std::string all;
  for (int i = 0; i < 10; ++i, journal_->flush()) all += told();
  const auto contains = [&](const char* text) { return all.find(text) != std::string::npos; };
  EXPECT_TRUE(contains("\"version\":10}"));
  EXPECT_FALSE(contains("\"version\":10000}"));  // nobody wants a thousand old epochs
  EXPECT_TRUE(contains("look here"));
}

TEST_F(JournalTest, AnEpochWhoseTestDidNotComeIsInTheSummary) {
  journal_->begun(0);
  journal_->progress(100, sums(40, 100, 10));
  const auto summary = journal_->summary(100, nlohmann::json::array(), "interrupted");
  EXPECT_EQ(summary["epochs"], 1);
  EXPECT_THAT(metrics(), HasSubstr("\"type\":\"epoch\""));
}

TEST_F(JournalTest, ALossThatIsNotFiniteIsWrittenAsNull) {
  journal_->begun(0);
  journal_->progress(30, sums(std::numeric_limits<double>::quiet_NaN(), 30));
  EXPECT_THAT(metrics(), HasSubstr("\"train_loss\":null"));
}

TEST_F(JournalTest, TheSummaryHasTheLastEpochAndWhatWasDone) {
  journal_->begun(100);
  journal_->progress(200, sums(40, 100, 20));
  wire::Evaluated evaluated;
  evaluated.set_version(20);
  evaluated.set_epoch(1);
  evaluated.set_accuracy(0.75);
  journal_->evaluated(evaluated);
  const auto summary = journal_->summary(200, nlohmann::json::array(), "");
  EXPECT_EQ(summary["status"], "complete");
  EXPECT_EQ(summary["examples"], 100);
  EXPECT_EQ(summary["examples_total"], 200);
  EXPECT_EQ(summary["test_accuracy"], 0.75);
  EXPECT_EQ(summary["train_loss"], 0.4);
  EXPECT_EQ(nlohmann::json::parse(read_text(dir_.path() / "summary.json")), summary);
}

TEST_F(JournalTest, AnEpochWithoutATestIsWrittenDownToo) {
  journal_->begun(0);
  journal_->progress(100, sums(40, 100, 10));
  journal_->untested(0, 10);
  EXPECT_THAT(metrics(), HasSubstr("\"test_accuracy\":null"));
  const auto summary = journal_->summary(100, nlohmann::json::array(), "");
  EXPECT_EQ(summary["epochs"], 1);
  EXPECT_EQ(summary["train_loss"], 0.4);
  EXPECT_TRUE(summary["test_accuracy"].is_null());
}

TEST_F(JournalTest, AModelThatPredictsNumbersHasAnErrorInThePlaceOfAnAccuracy) {
  config_.model.name = "regression";
  journal_.emplace(config_, Grid{100, 10, 1}, pipe_[1]);
  journal_->begun(0);
  journal_->progress(100, sums(40, 100, 10));
  wire::Evaluated evaluated;
  evaluated.set_version(10);
  evaluated.set_rmse(1.5);
  journal_->evaluated(evaluated);
  journal_->progress(200, sums(40, 100, 20));
  journal_->untested(1, 20);
  const auto summary = journal_->summary(200, nlohmann::json::array(), "");
  EXPECT_EQ(summary["epoch_results"][0]["test_rmse"], 1.5);
  EXPECT_TRUE(summary["test_rmse"].is_null());
  EXPECT_FALSE(summary.contains("test_accuracy"));
  EXPECT_THAT(metrics(), Not(HasSubstr("accuracy")));
}

TEST_F(JournalTest, AResumedRunRemembersTheEpochsItsCheckpointHolds) {
  const auto lived = [&](std::uint64_t version, double accuracy) {
    journal_->progress(10 * version, sums(40, 100, version));
    wire::Evaluated evaluated;
    evaluated.set_version(version);
    evaluated.set_epoch(version / 10 - 1);
    evaluated.set_accuracy(accuracy);
    journal_->evaluated(evaluated);
  };
  journal_->begun(0);
  lived(10, 0.5);
  lived(20, 0.6);
  lived(30, 0.1);  // beyond the checkpoint
  journal_.emplace(config_, Grid{100, 10, 1}, pipe_[1]);
  journal_->resumed(checkpoint_path(dir_.path(), 20), 20);
  journal_->begun(200);
  lived(30, 0.7);
  const auto summary = journal_->summary(300, nlohmann::json::array(), "");
  EXPECT_EQ(summary["epochs"], 3);
  EXPECT_EQ(summary["epoch_results"][1]["test_accuracy"], 0.6);
  EXPECT_EQ(summary["test_accuracy"], 0.7);
}

TEST_F(JournalTest, ARunThatFailedSaysWhy) {
  journal_->begun(0);
  const auto summary = journal_->summary(10, nlohmann::json::array(), "a reason");
  EXPECT_EQ(summary["status"], "incomplete");
  EXPECT_EQ(summary["error"], "a reason");
  EXPECT_TRUE(summary["test_accuracy"].is_null());
}

}  // namespace
}  // namespace paceline

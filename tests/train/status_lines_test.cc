#include "train/status_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"

namespace paceline {
namespace {

class Heard : public Reporter {
 public:
  void progress(const RunProgress& progress) override { progresses.push_back(progress); }
  void epoch(const EpochResult& result) override { epochs.push_back(result); }
  void notice(const std::string& sentence) override { sentences.push_back(sentence); }
  void warning(const std::string& sentence) override { sentences.push_back(sentence); }
  void summary(const nlohmann::json& summary) override { sentences.push_back(summary.dump()); }

  std::vector<RunProgress> progresses;
  std::vector<EpochResult> epochs;
  std::vector<std::string> sentences;
};

class StatusLinesTest : public testing::Test {
 protected:
  StatusLinesTest() { EXPECT_EQ(::pipe(pipe_), 0); }
  ~StatusLinesTest() override {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }
  void say(const std::string& text) {
    ASSERT_EQ(::write(pipe_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    lines_.read(pipe_[0]);
  }

  int pipe_[2];
  Heard heard_;
  StatusLines lines_{heard_};
};

TEST_F(StatusLinesTest, AreHeardOnceTheyAreWhole) {
  say(R"({"type":"address","address":"tcp:1"}
{"type":"begun"}
{"type":"noti)");
  EXPECT_EQ(lines_.address(), "tcp:1");
  EXPECT_TRUE(lines_.begun());
  EXPECT_TRUE(heard_.sentences.empty());
  say("ce\",\"text\":\"hello\"}\n");
  EXPECT_EQ(heard_.sentences, std::vector<std::string>{"hello"});
}

TEST_F(StatusLinesTest, EveryFarewellIsCountedAndSaysWhatIsDone) {
  EXPECT_FALSE(lines_.leaving());
  EXPECT_TRUE(lines_.hears());
  say(R"({"type":"leaving","doing":"waiting for the other roles to leave","hears":true})"
      "\n");
  EXPECT_TRUE(lines_.leaving());
  EXPECT_TRUE(lines_.hears());
  EXPECT_EQ(lines_.farewells(), 1U);
  say(R"({"type":"leaving","doing":"writing the last checkpoint","hears":false})"
      "\n");
  EXPECT_FALSE(lines_.hears());
  EXPECT_EQ(lines_.farewells(), 2U);
  EXPECT_EQ(lines_.doing(), "writing the last checkpoint");
  say(R"({"type":"leaving","doing":"writing its summary","hears":false})"
      "\n");
  EXPECT_EQ(lines_.doing(), "writing its summary");
}

// As when a run goes on that an earlier one has trained further.
TEST_F(StatusLinesTest, ProgressBehindTheEndHasNoTimeLeft) {
  say(R"({"type":"progress","epoch":2,"epochs":2,"examples_done":30,"examples_total":20,)"
      R"("examples_per_second":10,"train_loss":null})"
      "\n");
  ASSERT_EQ(heard_.progresses.size(), 1U);
  EXPECT_EQ(heard_.progresses[0].eta, Duration::zero());
  EXPECT_TRUE(std::isnan(heard_.progresses[0].loss));
}

TEST_F(StatusLinesTest, WhatMakesNoSenseIsRefused) {
  for (const char* wrong :
       {"{", "5", "[]", "{}", R"({"type":5})", R"({"type":"address"})",
        R"({"type":"notice","text":["a"]})", R"({"type":"progress","epoch":1})",
        R"({"type":"epoch","epoch":"one"})", R"({"type":"summary"})", R"({"type":"leaving"})"}) {
    StatusLines lines(heard_);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const std::string text = std::string(wrong) + "\n";
    ASSERT_GT(::write(ends[1], text.data(), text.size()), 0);
    EXPECT_THROW(lines.read(ends[0]), CommError) << wrong;
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

}  // namespace
}  // namespace paceline

#include "cli/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "cli/format.h"

namespace paceline {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

RunProgress some_progress() {
  return {.epoch = 3,
          .epochs = 10,
          .examples_done = 372'000,
          .examples_total = 600'000,
          .examples_per_second = 412'345,
          .loss = 0.28713,
          .eta = 4s};
}

EpochResult some_epoch() {
  return {.epoch = 3, .epochs = 10, .loss = 0.28713, .test_accuracy = 0.91934, .took = 80ms};
}

// A console whose clock is moved by hand.
class ConsoleTest : public testing::Test {
 protected:
  Console console(ConsoleMode mode, bool quiet = false, bool color = false) {
    return Console(out_, err_,
                   {.mode = mode, .quiet = quiet, .color = color, .columns = 80, .now = [this] {
                      return now_;
                    }});
  }

  // What was written since the last call.
  std::string taken() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  std::ostringstream out_;
  std::ostringstream err_;
  TimePoint now_ = TimePoint(1h);
};

TEST(ProgressLine, ShowsPlaceSpeedLossAndTimeLeft) {
  EXPECT_EQ(progress_line(some_progress(), 80, false),
            "epoch 3/10 ━━━━━━━━━━━━━────────  62 %  412 k examples/s  loss 0.2871  ETA 00:04");
}

TEST(ProgressLine, FitsAnyWidth) {
  for (int columns = 1; columns <= 200; ++columns) {
    EXPECT_LE(display_width(progress_line(some_progress(), columns, false)),
              static_cast<std::size_t>(columns));
  }
}

TEST(ProgressLine, DropsWhatIsOnTheRightFirst) {
  const std::string narrow = progress_line(some_progress(), 45, false);
  EXPECT_THAT(narrow, HasSubstr("412 k examples/s"));
  EXPECT_THAT(narrow, Not(HasSubstr("ETA")));
}

TEST(ProgressLine, SurvivesStrangeNumbers) {
  RunProgress progress;
  EXPECT_THAT(progress_line(progress, 80, false), HasSubstr("  0 %"));
  progress = {.epoch = 1, .epochs = 1, .examples_done = 20, .examples_total = 10, .eta = -3s};
  EXPECT_THAT(progress_line(progress, 80, false), HasSubstr("100 %"));
  progress.eta = 3725s;
  EXPECT_THAT(progress_line(progress, 80, false), HasSubstr("ETA 1:02:05"));
}

TEST_F(ConsoleTest, TerminalRedrawsItsLineAtMostTenTimesASecond) {
  auto made = console(ConsoleMode::kTerminal);
  made.progress(some_progress());
  EXPECT_THAT(taken(), testing::StartsWith("\x1b[?25l\r\x1b[Kepoch 3/10 "));
  now_ += 99ms;
  made.progress(some_progress());
  EXPECT_EQ(taken(), "");
  now_ += 1ms;
  made.progress(some_progress());
  EXPECT_THAT(taken(), testing::StartsWith("\r\x1b[Kepoch 3/10 "));
}

TEST_F(ConsoleTest, TerminalLeavesTheLastColumnFreeAndRoomForControlC) {
  RunProgress wide = some_progress();
  wide.epoch = 1234;
  wide.epochs = 5000;
  wide.eta = 400h;
  for (const RunProgress& progress : {some_progress(), wide}) {
    auto made = console(ConsoleMode::kTerminal);
    taken();
    made.progress(progress);
    EXPECT_LE(display_width(taken()), 77U + display_width("\x1b[?25l\r\x1b[K"));
  }
}

TEST_F(ConsoleTest, TerminalRemovesItsLineBeforeAnotherOne) {
  auto made = console(ConsoleMode::kTerminal);
  made.progress(some_progress());
  taken();
  made.epoch(some_epoch());
  EXPECT_EQ(taken(), "\r\x1b[K\x1b[?25hepoch  3  loss 0.2871  test accuracy 91.93 %  80 ms\n");
  made.notice("nothing is drawn now");
  EXPECT_EQ(taken(), "nothing is drawn now\n");
}

TEST_F(ConsoleTest, TerminalRemovesItsLineBeforeAWarning) {
  auto made = console(ConsoleMode::kTerminal);
  made.progress(some_progress());
  taken();
  made.warning("worker1 is silent");
  EXPECT_EQ(taken(), "\r\x1b[K\x1b[?25h");
  EXPECT_EQ(err_.str(), "warning: worker1 is silent\n");
}

TEST_F(ConsoleTest, TerminalGivesTheCursorBackAtTheEnd) {
  {
    auto made = console(ConsoleMode::kTerminal);
    made.progress(some_progress());
    taken();
  }
  EXPECT_EQ(taken(), "\r\x1b[K\x1b[?25h");
}

TEST_F(ConsoleTest, ColorsOnlyWhenWanted) {
  EXPECT_THAT(progress_line(some_progress(), 80, true), HasSubstr("\x1b[36m━"));
  EXPECT_THAT(progress_line(some_progress(), 80, false), Not(HasSubstr("\x1b")));
  console(ConsoleMode::kTerminal, false, true).warning("careful");
  EXPECT_EQ(err_.str(), "\x1b[33mwarning:\x1b[0m careful\n");
}

TEST_F(ConsoleTest, PlainHasNoControlCharactersAndFewLines) {
  auto made = console(ConsoleMode::kPlain);
  for (int i = 0; i <= 100; ++i) {
    made.progress(some_progress());
    now_ += 100ms;
  }
  EXPECT_EQ(taken(),
            "epoch 3/10  62 %  412 k examples/s  loss 0.2871  ETA 00:04\n"
            "epoch 3/10  62 %  412 k examples/s  loss 0.2871  ETA 00:04\n");
  made.epoch(some_epoch());
  made.summary({{"test_accuracy", 0.9193}, {"workers", 2U}});
  EXPECT_EQ(taken(),
            "epoch  3  loss 0.2871  test accuracy 91.93 %  80 ms\n"
            "\n"
            "  test accuracy  91.93 %\n"
            "  workers              2\n");
}

TEST_F(ConsoleTest, NumbersHaveAnErrorInThePlaceOfAnAccuracy) {
  EpochResult epoch = some_epoch();
  epoch.test_rmse = 1.25;
  console(ConsoleMode::kPlain).epoch(epoch);
  EXPECT_EQ(taken(), "epoch  3  loss 0.2871  test rmse 1.2500  80 ms\n");
  console(ConsoleMode::kJson).epoch(epoch);
  const auto object = nlohmann::json::parse(taken());
  EXPECT_EQ(object["test_rmse"], 1.25);
  EXPECT_FALSE(object.contains("test_accuracy"));
  epoch.test_rmse = std::numeric_limits<double>::quiet_NaN();
  console(ConsoleMode::kPlain).epoch(epoch);
  EXPECT_EQ(taken(), "epoch  3  loss 0.2871  test rmse –  80 ms\n");
}

TEST_F(ConsoleTest, JsonIsOneObjectPerLineWithAType) {
  auto made = console(ConsoleMode::kJson);
  made.progress(some_progress());
  made.epoch(some_epoch());
  made.notice("a \"quoted\" word");
  made.warning("careful");
  made.summary({{"test_accuracy", 0.5}});
  std::vector<std::string> types;
  std::vector<nlohmann::json> objects;
  std::istringstream lines(taken());
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(nlohmann::json::parse(line));
    types.push_back(objects.back()["type"]);
  }
  EXPECT_THAT(types, testing::ElementsAre("progress", "epoch", "notice", "warning", "summary"));
  // The names of metrics.jsonl.
  EXPECT_EQ(objects[0]["examples_done"], 372'000);
  EXPECT_EQ(objects[0]["train_loss"], 0.28713);
  EXPECT_EQ(objects[1]["train_loss"], 0.28713);
  EXPECT_EQ(objects[1]["test_accuracy"], 0.91934);
  EXPECT_EQ(objects[2]["text"], "a \"quoted\" word");
  EXPECT_EQ(objects[4]["test_accuracy"], 0.5);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ConsoleTest, ALossThatIsNotFiniteIsNanEverywhere) {
  const double nan = -std::numeric_limits<double>::quiet_NaN();
  auto made = console(ConsoleMode::kPlain);
  EpochResult epoch = some_epoch();
  epoch.loss = nan;
  made.epoch(epoch);
  EXPECT_THAT(taken(), HasSubstr("loss nan "));
  RunProgress progress = some_progress();
  progress.loss = nan;
  EXPECT_THAT(progress_line(progress, 80, false), HasSubstr("loss nan "));
  // As it comes out of a file, where it is null, as is what there is none of.
  made.summary({{"train_loss", nullptr},
                {"test_accuracy", 0.5},
                {"epoch_results", {{{"epoch", 1}, {"train_loss", nullptr}}}}});
  EXPECT_THAT(taken(), HasSubstr("train loss         nan\n"));
  made.summary({{"train_loss", 0.5},
                {"test_loss", nullptr},
                {"test_accuracy", nullptr},
                {"epoch_results", {{{"epoch", 1}}}}});
  EXPECT_THAT(taken(), HasSubstr("test loss           –\n"));
  made.summary({{"train_loss", nullptr}, {"epoch_results", nlohmann::json::array()}});
  EXPECT_THAT(taken(), HasSubstr("train loss  –\n"));
}

TEST_F(ConsoleTest, SkippedStepsAreShownWhenThereAreAny) {
  auto made = console(ConsoleMode::kPlain);
  made.summary({{"steps_skipped", 3U}});
  EXPECT_THAT(taken(), HasSubstr("steps skipped  3\n"));
  made.summary({{"steps_skipped", 0U}, {"workers", 1U}});
  EXPECT_THAT(taken(), Not(HasSubstr("skipped")));
}

TEST_F(ConsoleTest, RolesAreShownInOrder) {
  auto made = console(ConsoleMode::kPlain);
  nlohmann::json roles = nlohmann::json::array();
  for (const char* name : {"evaluator0", "worker10", "worker9", "server0", "chief"}) {
    roles.push_back({{"name", name}, {"host", "h"}});
  }
  made.summary({{"roles", roles}});
  EXPECT_EQ(taken(), "\n\n  roles\n  chief\n  server0\n  worker9\n  worker10\n  evaluator0\n");
}

TEST_F(ConsoleTest, QuietLeavesWarningsAndTheSummary) {
  auto made = console(ConsoleMode::kTerminal, true);
  made.progress(some_progress());
  made.epoch(some_epoch());
  made.notice("not shown");
  made.warning("shown");
  made.summary({{"workers", 2U}});
  EXPECT_EQ(taken(), "  workers  2\n");
  EXPECT_EQ(err_.str(), "warning: shown\n");
}

}  // namespace
}  // namespace paceline

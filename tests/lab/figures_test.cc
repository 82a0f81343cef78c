#include "lab/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "lab/fake_program.h"
#include "lab/measure.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Figures over programs that report what a test wants.
class FiguresTest : public ::testing::Test {
 protected:
  void report(const std::string& program, const std::string& object) {
    write_program(folder_ / "bench" / program, "echo '" + object + "'");
  }
  // A binary that trains as `sync` says, or `async` in that mode.
  void train(const std::string& sync, const std::string& async = "{}") {
    write_program(folder_ / "apps/paceline",
                  "summary='" + sync + "'; [ \"$4\" != async ] || summary='" + async + R"('
while [ "$1" != --run-dir ]; do shift; done
mkdir -p "$2" && echo "$summary" >"$2/summary.json" && echo '{}')");
  }

  Figure figure(const std::string& name) {
    return select(figures_, std::vector<std::string>{name}).at(0);
  }
  Result measured(const std::string& name) {
    return measure(
        figure(name), [](std::string_view) {}, 1);
  }

  TempDir folder_;
  Runner runner_;
  std::vector<Figure> figures_ =
      make_figures({{folder_ / "apps/paceline", folder_ / "bench",
                     [this] { return folder_ / "cache/mnist"; }, folder_ / "clicks"},
                    runner_});
};

TEST_F(FiguresTest, NamesAndTargetsAreThoseOfTheTable) {
  std::vector<std::string> rows;
  for (const Figure& f : figures_) rows.push_back(f.name + " " + target_text(f) + " " + f.unit);
  EXPECT_THAT(
      rows,
      ElementsAre("softmax.batch10 ≥7 ×", "softmax.batch100 ≥1.9 ×", "mnist.accuracy ≥91.5 %",
                  "mnist.vs_ddp ≥8 ×", "mnist.vs_bare ≤1.8 ×", "mnist.async ≥0.97 ×",
                  "loopback.bulk ≥0.7 ×", "loopback.small ≤1.5 ×", "loop.overhead ≤3 µs/step"));
}

TEST_F(FiguresTest, WithoutProgramsEveryFigureIsShortWithAReason) {
  for (const Figure& f : figures_) {
    const Result result = measure(
        f, [](std::string_view) {}, 1);
    EXPECT_FALSE(is_ok(f, result)) << f.name;
    EXPECT_THAT(result.reason, HasSubstr(" is not in ")) << f.name;
  }
}

TEST_F(FiguresTest, SoftmaxIsHowManyTimesFasterAStepIs) {
  report("softmax_bench", R"({"median_step_seconds": 5e-6, "losses": [2.3026, 0.5]})");
  report("torch_softmax", R"({"median_step_seconds": 40e-6, "losses": [2.3026, 0.50004]})");
  const Result result = measured("softmax.batch10");
  EXPECT_DOUBLE_EQ(result.value.median, 8);
  EXPECT_DOUBLE_EQ(result.ours.median, 5);
  EXPECT_TRUE(is_ok(figure("softmax.batch10"), result));
}

TEST_F(FiguresTest, SoftmaxWithOtherLossesIsShort) {
  report("softmax_bench", R"({"median_step_seconds": 5e-6, "losses": [2.3026, 0.5]})");
  report("torch_softmax", R"({"median_step_seconds": 40e-6, "losses": [2.3026, 0.5001]})");
  EXPECT_THAT(measured("softmax.batch100").reason, HasSubstr("losses"));
  report("torch_softmax", R"({"median_step_seconds": 40e-6, "losses": [2.3026]})");
  EXPECT_THAT(measured("softmax.batch100").reason, HasSubstr("losses"));
}

TEST_F(FiguresTest, AccuracyIsInPercent) {
  train(R"({"test_accuracy": 0.9195})");
  const Result result = measured("mnist.accuracy");
  EXPECT_DOUBLE_EQ(result.value.median, 91.95);
  EXPECT_TRUE(is_ok(figure("mnist.accuracy"), result));
}

TEST_F(FiguresTest, DdpIsTheFasterOfPinnedAndNot) {
  train(R"({"test_accuracy": 0.92, "examples_per_second": 900000})");
  write_program(folder_ / "bench/ddp_mnist.py", R"(
[ "$5" = --pin ] && rate=100000 || rate=50000
echo "{\"examples_per_second\": $rate, \"accuracy\": 0.921}")");
  const Result result = measured("mnist.vs_ddp");
  EXPECT_DOUBLE_EQ(result.value.median, 9);
  EXPECT_DOUBLE_EQ(result.peer.median, 100000);
}

TEST_F(FiguresTest, StepTimeIsComparedWithBareSockets) {
  train(R"({"test_accuracy": 0.92, "examples": 600000, "train_seconds": 0.6})");
  report("bare_ps", R"({"seconds_per_step": 8e-5, "accuracy": 0.92})");
  const Result result = measured("mnist.vs_bare");
  EXPECT_DOUBLE_EQ(result.ours.median, 100);
  EXPECT_DOUBLE_EQ(result.value.median, 1.25);
  report("bare_ps", R"({"seconds_per_step": 8e-5, "accuracy": 0.1})");
  EXPECT_THAT(measured("mnist.vs_bare").reason, HasSubstr("accuracies"));
}

TEST_F(FiguresTest, AsyncIsComparedWithSync) {
  train(R"({"examples_per_second": 400000})", R"({"examples_per_second": 500000})");
  EXPECT_DOUBLE_EQ(measured("mnist.async").value.median, 1.25);
}

TEST_F(FiguresTest, LoopbackIsComparedWithTheEchoOfAsManyBytes) {
  report("ps_bench", R"({"seconds_per_round": 6e-5, "bytes_per_second": 1e9})");
  report("tcp_echo", R"({"seconds_per_round": 5e-5, "bytes_per_second": 2e9})");
  EXPECT_DOUBLE_EQ(measured("loopback.bulk").value.median, 0.5);
  EXPECT_DOUBLE_EQ(measured("loopback.small").value.median, 1.2);
}

TEST_F(FiguresTest, TheLoopsOverheadIsADifference) {
  report("loop_bench", R"({"loop_seconds": 40e-6, "bare_seconds": 38e-6})");
  const Result result = measured("loop.overhead");
  EXPECT_NEAR(result.value.median, 2, 1e-9);
  EXPECT_NEAR(result.peer.median, 38, 1e-9);
}

}  // namespace
}  // namespace paceline

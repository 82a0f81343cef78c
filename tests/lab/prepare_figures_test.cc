#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/temp_dir.h"
#include "lab/fake_program.h"
#include "lab/figures.h"
#include "lab/measure.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Figures over programs that report what a test wants.
class PrepareFiguresTest : public ::testing::Test {
 protected:
  // A generator that counts how often it writes, and reads at this rate.
  void make_reviews_bench(const std::string& rate = "1500000") {
    write_program(folder_ / "bench/reviews_bench",
                  "if [ $1 = read ]; then [ -f \"$2\" ] && echo '{\"sequences_per_second\": " +
                      rate + "}'; exit; fi\necho $3 >>" + (folder_ / "written").string() +
                      "\necho review >\"$2\"; echo '{}'");
  }
  // A binary that says `alone`, or `together` when mpirun has started it, and leaves its words.
  void make_paceline(const std::string& alone, const std::string& together = "{}") {
    write_program(folder_ / "apps/paceline", "echo \"$*\" >" + (folder_ / "words").string() +
                                                 "\n[ -f \"$3\" ] && touch \"$5\"" + "\nreport='" +
                                                 alone + "'; [ -z \"$TOGETHER\" ] || report='" +
                                                 together +
                                                 "'\necho \"$report\" | sed \"s|OUTPUT|$5|\"");
  }
  void make_scripts(const std::string& comparison) {
    // The words that it leaves out are in its first file, the reviews in its second.
    write_program(folder_ / "bench/prepare_reviews.py",
                  "grep -qx would \"$1\" && [ -f \"$2\" ] && touch \"$3\" && echo "
                  "'{\"seconds\": 1e6}'");
    write_program(
        folder_ / "bench/compare_prepared.py",
        "[ -f \"$1\" ] && [ -f \"$2\" ] && [ \"$1\" != \"$2\" ] && echo '" + comparison + "'");
  }
  void make_mpirun() {
    write_program(folder_ / "mpirun", "echo \"$*\" >" + (folder_ / "mpirun_words").string() + R"(
[ "$OMPI_ALLOW_RUN_AS_ROOT$OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" = 11 ] || exit 1
while [ "$1" != -n ]; do shift; done
shift 2
TOGETHER=1 exec "$@")");
  }

  Figure figure(const std::string& name) {
    return select(figures_, std::vector<std::string>{name}).at(0);
  }
  Result measured(const std::string& name) {
    return measure(
        figure(name), [](std::string_view) {}, 1);
  }
  std::string left_in(const std::string& name) { return read_text(folder_ / name); }

  TempDir folder_;
  Runner runner_;
  std::vector<Figure> figures_ = make_prepare_figures({{.paceline = folder_ / "apps/paceline",
                                                        .programs = folder_ / "bench",
                                                        .mnist = {},
                                                        .clicks = {},
                                                        .reviews = folder_ / "reviews",
                                                        .mpirun = (folder_ / "mpirun").string()},
                                                       runner_});
};

TEST_F(PrepareFiguresTest, NamesAndTargetsAreThoseOfTheTable) {
  std::vector<std::string> rows;
  for (const Figure& f : figures_) rows.push_back(f.name + " " + target_text(f) + " " + f.unit);
  EXPECT_THAT(rows, ElementsAre("prepare.vs_python ≥12 ×", "prepare.two ≥1.6 ×",
                                "prepare.memory ≤600 MB", "prepare.read ≥1 M/s"));
}

TEST_F(PrepareFiguresTest, WithoutProgramsEveryFigureIsShortWithAReason) {
  for (const Figure& f : figures_) {
    const Result result = measure(
        f, [](std::string_view) {}, 1);
    EXPECT_FALSE(is_ok(f, result)) << f.name;
    EXPECT_THAT(result.reason, HasSubstr("reviews_bench is not in ")) << f.name;
  }
}

TEST_F(PrepareFiguresTest, ReviewsAreMadeUpOnceForAllThatNeedAsMany) {
  make_reviews_bench();
  make_paceline(R"({"output": "OUTPUT", "seconds": 3})");
  make_scripts(R"({"equal": true, "rows": 3})");
  EXPECT_EQ(measured("prepare.vs_python").reason, "");
  EXPECT_EQ(measured("prepare.read").reason, "");
  EXPECT_EQ(measured("prepare.memory").reason, "");
  EXPECT_EQ(left_in("written"), "300\n4000\n");
}

TEST_F(PrepareFiguresTest, TheScriptIsComparedWithAllThatTheProcessTakes) {
  make_reviews_bench();
  make_paceline(R"({"output": "OUTPUT", "seconds": 1e-9})");
  make_scripts(R"({"equal": true, "rows": 3})");
  const Result result = measured("prepare.vs_python");
  EXPECT_EQ(result.peer.median, 1e6);
  EXPECT_GT(result.ours.median, 1e-9);
  EXPECT_TRUE(is_ok(figure("prepare.vs_python"), result));
  EXPECT_THAT(left_in("words"), HasSubstr("prepare reviews " + (folder_ / "reviews").string()));
  EXPECT_THAT(left_in("words"), HasSubstr("--threads 1"));
}

TEST_F(PrepareFiguresTest, AScriptThatMakesOtherRowsIsNoPeer) {
  make_reviews_bench();
  make_paceline(R"({"output": "OUTPUT"})");
  make_scripts(R"({"equal": false, "rows": 3, "difference": "2 of 3 rows differ"})");
  EXPECT_THAT(measured("prepare.vs_python").reason, HasSubstr("2 of 3 rows differ"));
  make_scripts("{}");
  EXPECT_THAT(measured("prepare.vs_python").reason, HasSubstr("different files"));
}

TEST_F(PrepareFiguresTest, TwoProcessesOnTwoCoresAreComparedWithOne) {
  make_reviews_bench();
  make_mpirun();
  make_paceline(R"({"seconds": 9, "content_checksum": "c0"})",
                R"({"seconds": 5, "content_checksum": "c0"})");
  const Result result = measured("prepare.two");
  EXPECT_DOUBLE_EQ(result.value.median, 1.8);
  EXPECT_DOUBLE_EQ(result.ours.median, 5);
  EXPECT_THAT(left_in("mpirun_words"), HasSubstr("--bind-to core -n 2 "));
  EXPECT_THAT(left_in("mpirun_words"), HasSubstr("--threads 1"));
}

TEST_F(PrepareFiguresTest, TwoProcessesThatMakeAnotherContentAreShort) {
  make_reviews_bench();
  make_mpirun();
  make_paceline(R"({"seconds": 9, "content_checksum": "c0"})",
                R"({"seconds": 5, "content_checksum": "c1"})");
  EXPECT_THAT(measured("prepare.two").reason, HasSubstr("differ: c1 and c0"));
  make_paceline(R"({"seconds": 9})", R"({"seconds": 5})");
  EXPECT_THAT(measured("prepare.two").reason, HasSubstr("content_checksum"));
}

TEST_F(PrepareFiguresTest, WithoutMpirunOrThePluginTheReasonSaysSo) {
  make_reviews_bench();
  make_paceline("{}");
  EXPECT_THAT(measured("prepare.two").reason, HasSubstr("mpirun"));
  make_mpirun();
  write_program(folder_ / "apps/paceline", "echo 'the mpi plugin is not there' >&2; exit 2");
  EXPECT_THAT(measured("prepare.two").reason, HasSubstr("the mpi plugin is not there"));
}

TEST_F(PrepareFiguresTest, MemoryIsThatOfTheProcessItself) {
  make_reviews_bench();
  make_paceline(R"({"seconds": 60})");
  const Result result = measured("prepare.memory");
  EXPECT_GT(result.value.median, 0.1);  // MB: a shell has more than that
  EXPECT_TRUE(is_ok(figure("prepare.memory"), result)) << result.value.median;
  EXPECT_THAT(left_in("words"), HasSubstr("--memory 512M"));
}

TEST_F(PrepareFiguresTest, WhatIsPreparedIsReadBack) {
  make_reviews_bench("1250000");
  make_paceline(R"({"output": "OUTPUT"})");
  EXPECT_DOUBLE_EQ(measured("prepare.read").value.median, 1.25);
  make_paceline("{}");
  EXPECT_THAT(measured("prepare.read").reason, HasSubstr("paceline reported no text 'output'"));
}

}  // namespace
}  // namespace paceline

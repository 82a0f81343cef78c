#include "lab/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Figure with(Comparison comparison, double target) {
  Figure figure;
  figure.comparison = comparison;
  figure.target = target;
  return figure;
}

std::vector<Figure> some_figures() {
  std::vector<Figure> figures(4);
  figures[0].name = "softmax.batch10";
  figures[1].name = "softmax.batch100";
  figures[2].name = "loop.overhead";
  figures[3].name = "loopback.bulk";
  return figures;
}

std::vector<std::string> selected(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const Figure& figure : select(some_figures(), words)) names.push_back(figure.name);
  return names;
}

std::string refusal(const std::string& word) {
  try {
    select(some_figures(), std::vector<std::string>{word});
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(Figure, TheTargetItselfReachesIt) {
  EXPECT_TRUE(reaches(with(Comparison::kAtLeast, 7), 7));
  EXPECT_TRUE(reaches(with(Comparison::kAtLeast, 7), 7.1));
  EXPECT_FALSE(reaches(with(Comparison::kAtLeast, 7), 6.9));
  EXPECT_TRUE(reaches(with(Comparison::kAtMost, 1.8), 1.8));
  EXPECT_TRUE(reaches(with(Comparison::kAtMost, 1.8), 1.7));
  EXPECT_FALSE(reaches(with(Comparison::kAtMost, 1.8), 1.9));
}

TEST(Figure, NotANumberReachesNothing) {
  EXPECT_FALSE(reaches(with(Comparison::kAtLeast, 0), std::nan("")));
  EXPECT_FALSE(reaches(with(Comparison::kAtMost, 0), std::nan("")));
}

TEST(Figure, TargetIsWrittenWithoutSpaces) {
  EXPECT_EQ(target_text(with(Comparison::kAtLeast, 7)), "≥7");
  EXPECT_EQ(target_text(with(Comparison::kAtMost, 1.8)), "≤1.8");
}

TEST(Figure, NoNameSelectsAll) {
  EXPECT_EQ(selected({}).size(), 4U);
}

TEST(Figure, ANameThatBeginsAnotherSelectsOnlyItself) {
  EXPECT_THAT(selected({"softmax.batch10"}), ElementsAre("softmax.batch10"));
}

TEST(Figure, AGroupSelectsItsFiguresAndNotThoseOfALongerName) {
  EXPECT_THAT(selected({"softmax"}), ElementsAre("softmax.batch10", "softmax.batch100"));
  EXPECT_THAT(selected({"loop"}), ElementsAre("loop.overhead"));
}

TEST(Figure, SelectionIsInTheOrderOfTheFiguresAndWithoutRepetition) {
  EXPECT_THAT(selected({"loopback.bulk", "softmax.batch100", "softmax"}),
              ElementsAre("softmax.batch10", "softmax.batch100", "loopback.bulk"));
}

TEST(Figure, AnUnknownNameIsRefusedWithASuggestion) {
  EXPECT_THAT(refusal("sofmax"), HasSubstr("'sofmax' is not a figure — did you mean 'softmax'?"));
  EXPECT_THAT(refusal("loopback.bilk"), HasSubstr("did you mean 'loopback.bulk'?"));
  EXPECT_THAT(refusal("softmax."), HasSubstr("is not a figure"));
}

}  // namespace
}  // namespace paceline

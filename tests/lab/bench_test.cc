#include "lab/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Figure figure_of(const std::string& name, Measure ours) {
  Figure figure;
  figure.name = name;
  figure.what = "what it is";
  figure.target = 2;
  figure.unit = "%";
  figure.relation = Relation::kOursAlone;
  figure.side_unit = "%";
  figure.ours = {"paceline", std::move(ours)};
  return figure;
}

class BenchTest : public ::testing::Test {
 protected:
  std::string output(BenchRequest request) {
    std::ostringstream out;
    run_bench(figures_, request, out, err_, 3);
    return out.str();
  }

  std::ostringstream err_;
  std::vector<Figure> figures_ = {
      figure_of("a.good",
                [] {
                  return Sample{3, {}};
                }),
      figure_of("a.bad",
                [] {
                  return Sample{1, {}};
                }),
      figure_of("b.broken", []() -> Sample { throw Error("it broke"); }),
  };
};

TEST_F(BenchTest, EachFigureIsALineAlsoTheOnesAfterAFailure) {
  EXPECT_EQ(output({}),
            "a.good 3 % ≥2 ok (3–3)\n"
            "a.bad 1 % ≥2 short (1–1)\n"
            "b.broken - % ≥2 short (it broke)\n");
}

TEST_F(BenchTest, OnlyWhatIsNamedIsMeasured) {
  EXPECT_EQ(output({.names = {"a.bad"}}), "a.bad 1 % ≥2 short (1–1)\n");
  EXPECT_THROW(output({.names = {"c"}}), ConfigError);
}

TEST_F(BenchTest, JsonIsOneObjectPerLine) {
  std::istringstream lines(output({.names = {"a"}, .json = true}));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["name"], "a.good");
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["verdict"], "short");
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(BenchTest, ProgressDoesNotMixWithTheLines) {
  output({.names = {"a.good"}});
  EXPECT_THAT(err_.str(), HasSubstr("a.good 1/3: 3 %\na.good 2/3: 3 %\na.good 3/3: 3 %\n"));
}

TEST_F(BenchTest, AListMeasuresNothing) {
  const std::string text = output({.names = {"b"}, .list = true});
  EXPECT_THAT(text, StartsWith("b.broken "));
  EXPECT_THAT(text, HasSubstr("what it is"));
  EXPECT_EQ(err_.str(), "");
  const auto object = nlohmann::json::parse(output({.names = {"b"}, .json = true, .list = true}));
  EXPECT_EQ(object["name"], "b.broken");
  EXPECT_EQ(object["target"], "≥2 %");
}

TEST(Bench, ABusyMachineIsWarnedOf) {
  EXPECT_EQ(load_warning(0.3, 2), "");
  EXPECT_THAT(load_warning(3.14, 2), HasSubstr("load of this machine is 3.1 on 2 cores"));
}

TEST(Bench, TheRealFiguresCanBeListed) {
  std::ostringstream out;
  std::ostringstream err;
  run_bench({.list = true}, out, err);
  EXPECT_THAT(out.str(), HasSubstr("mnist.vs_ddp"));
}

}  // namespace
}  // namespace paceline

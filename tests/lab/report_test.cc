#include "lab/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace paceline {
namespace {

Figure speed() {
  Figure figure;
  figure.name = "softmax.batch10";
  figure.target = 7;
  figure.unit = "×";
  figure.relation = Relation::kPeerByOurs;
  figure.side_unit = "µs/step";
  figure.ours.name = "paceline";
  figure.peer.name = "libtorch";
  return figure;
}

Result measured() {
  Result result;
  result.value = {8.125, 8.5, 8.75};
  result.ours = {4, 4.25, 4.5};
  result.peer = {36, 36.125, 37};
  return result;
}

Result unmeasured() {
  Result result;
  result.reason = "torch_softmax is not there";
  return result;
}

TEST(Report, NumbersHaveFourDigitsOrTheirThousands) {
  EXPECT_EQ(number_text(8.31234), "8.312");
  EXPECT_EQ(number_text(91.95), "91.95");
  EXPECT_EQ(number_text(0.97), "0.97");
  EXPECT_EQ(number_text(-6), "-6");
  EXPECT_EQ(number_text(9999), "9999");
  EXPECT_EQ(number_text(412345.6), "412,346");
}

TEST(Report, ALineIsNameValueUnitTargetVerdictAndTheGroundsBehindIt) {
  EXPECT_EQ(text_of(speed(), measured()),
            "softmax.batch10 8.5 × ≥7 ok (8.125–8.75; paceline 4.25, libtorch 36.12 µs/step)");
}

TEST(Report, TheVerdictIsOfTheMedian) {
  Figure figure = speed();
  figure.target = 8.6;
  EXPECT_EQ(json_of(figure, measured())["verdict"], "short");
  figure.comparison = Comparison::kAtMost;
  EXPECT_EQ(json_of(figure, measured())["verdict"], "ok");
}

TEST(Report, WhatThisMachineIsNotMadeForIsSkippedAndSaysWhy) {
  Figure figure = speed();
  figure.impossible = "this processor cannot";
  figure.ours.measure = figure.peer.measure = []() -> Sample { throw Error("must not run"); };
  const Result result = measure(figure, [](std::string_view) {});
  EXPECT_EQ(text_of(figure, result), "softmax.batch10 - × ≥7 skipped (this processor cannot)");
}

TEST(Report, WhatCouldNotBeMeasuredIsShortAndSaysWhy) {
  EXPECT_EQ(text_of(speed(), unmeasured()),
            "softmax.batch10 - × ≥7 short (torch_softmax is not there)");
  const nlohmann::json object = json_of(speed(), unmeasured());
  EXPECT_TRUE(object["value"].is_null());
  EXPECT_EQ(object["verdict"], "short");
  EXPECT_EQ(object["reason"], "torch_softmax is not there");
  EXPECT_FALSE(object.contains("ours"));
}

TEST(Report, AFigureAloneHasNoSides) {
  Figure figure = speed();
  figure.relation = Relation::kOursAlone;
  EXPECT_EQ(text_of(figure, measured()), "softmax.batch10 8.5 × ≥7 ok (8.125–8.75)");
  EXPECT_FALSE(json_of(figure, measured()).contains("peer"));
}

TEST(Report, JsonHasEverythingInFullPrecision) {
  EXPECT_EQ(json_of(speed(), measured()), nlohmann::json::parse(R"({
    "name": "softmax.batch10", "value": 8.5, "unit": "×", "target": 7.0,
    "comparison": "at_least", "verdict": "ok", "low": 8.125, "high": 8.75,
    "ours": {"name": "paceline", "median": 4.25, "low": 4.0, "high": 4.5, "unit": "µs/step"},
    "peer": {"name": "libtorch", "median": 36.125, "low": 36.0, "high": 37.0, "unit": "µs/step"}
  })"));
}

}  // namespace
}  // namespace paceline

#include "lab/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/error.h"

namespace paceline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns the values in turn, and writes down that it did.
Measure replay(const std::string& name, std::vector<double> values,
               std::shared_ptr<std::string> calls = std::make_shared<std::string>()) {
  return [=, next = std::size_t{0}]() mutable {
    *calls += name;
    return Sample{values.at(next++), {}};
  };
}

Figure figure_of(Relation relation, Measure ours, Measure peer) {
  Figure figure;
  figure.name = "a.figure";
  figure.target = 2;
  figure.unit = "×";
  figure.relation = relation;
  figure.side_unit = "µs";
  figure.ours = {"paceline", std::move(ours)};
  figure.peer = {"peer", std::move(peer)};
  return figure;
}

void ignore(std::string_view) {}

TEST(Measure, PairsAreInterleavedAndEachGivesOneRatio) {
  const auto calls = std::make_shared<std::string>();
  const Figure figure = figure_of(Relation::kOursByPeer, replay("o", {10, 40, 90}, calls),
                                  replay("p", {10, 20, 30}, calls));
  const Result result = measure(figure, ignore, 3);
  EXPECT_EQ(*calls, "opopop");
  EXPECT_EQ(result.value, (Spread{1.5, 2, 2.5}));
  EXPECT_EQ(result.ours, (Spread{25, 40, 65}));
  EXPECT_EQ(result.peer, (Spread{15, 20, 25}));
  EXPECT_TRUE(result.measured());
  EXPECT_TRUE(is_ok(figure, result));
}

TEST(Measure, NinePairsUnlessSaidOtherwise) {
  const auto calls = std::make_shared<std::string>();
  const std::vector<double> nine(9, 1.0);
  measure(figure_of(Relation::kOursByPeer, replay("o", nine, calls), replay("p", nine, calls)),
          ignore);
  EXPECT_EQ(*calls, "opopopopopopopopop");
}

TEST(Measure, TheRelationSaysWhatTheValueIs) {
  const auto value = [](Relation relation) {
    return measure(figure_of(relation, replay("o", {2}), replay("p", {8})), ignore, 1).value.median;
  };
  EXPECT_EQ(value(Relation::kOursByPeer), 0.25);
  EXPECT_EQ(value(Relation::kPeerByOurs), 4);
  EXPECT_EQ(value(Relation::kOursMinusPeer), -6);
  EXPECT_EQ(value(Relation::kOursAlone), 2);
}

TEST(Measure, AFigureAloneNeedsNoPeer) {
  const Result result =
      measure(figure_of(Relation::kOursAlone, replay("o", {91, 92, 93}), {}), ignore, 3);
  EXPECT_TRUE(result.measured());
  EXPECT_EQ(result.value.median, 92);
}

TEST(Measure, ASideThatFailsOnceLeavesTheFigureShortWithTheReason) {
  int runs = 0;
  const Figure figure = figure_of(Relation::kOursByPeer, replay("o", {9, 9, 9}), [&]() -> Sample {
    if (++runs == 3) throw Error("the peer is broken");
    return {1, {}};
  });
  const Result result = measure(figure, ignore, 3);
  EXPECT_FALSE(result.measured());
  EXPECT_EQ(result.reason, "the peer is broken");
  EXPECT_FALSE(is_ok(figure, result));
}

TEST(Measure, ValuesThatCannotBeAreNotMeasured) {
  for (const double value : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    const Figure figure = figure_of(Relation::kOursByPeer, replay("o", {9}), replay("p", {value}));
    const Result result = measure(figure, ignore, 1);
    EXPECT_THAT(result.reason, HasSubstr("peer measured"));
    EXPECT_FALSE(is_ok(figure, result));
  }
}

TEST(Measure, SidesThatDisagreeAreNotMeasured) {
  Figure figure = figure_of(Relation::kOursByPeer, replay("o", {9}), replay("p", {1}));
  figure.agree = [](const Sample& ours, const Sample& peer) {
    if (ours.value != peer.value) throw Error("not the same work");
  };
  EXPECT_EQ(measure(figure, ignore, 1).reason, "not the same work");
}

TEST(Measure, ErrorsInAReportAreReasonsToo) {
  const Figure figure = figure_of(Relation::kOursAlone,
                                  []() -> Sample {
                                    return {nlohmann::json::object().at("x"), {}};
                                  },
                                  {});
  EXPECT_THAT(measure(figure, ignore, 1).reason, HasSubstr("'x'"));
}

TEST(Measure, AnInterruptionIsNoReasonButTheEnd) {
  const Figure figure =
      figure_of(Relation::kOursAlone, []() -> Sample { throw Interrupted("Ctrl-C"); }, {});
  EXPECT_THROW(measure(figure, ignore, 1), Interrupted);
}

TEST(Measure, EveryPairIsTold) {
  std::vector<std::string> lines;
  measure(
      figure_of(Relation::kPeerByOurs, replay("o", {2, 4}), replay("p", {8, 8})),
      [&](std::string_view line) { lines.emplace_back(line); }, 2);
  EXPECT_THAT(lines, ElementsAre("a.figure 1/2: 4 × (paceline 2, peer 8 µs)",
                                 "a.figure 2/2: 2 × (paceline 4, peer 8 µs)"));
}

}  // namespace
}  // namespace paceline

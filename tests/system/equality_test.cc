// A synchronous run ends with the weights of one process, however it is cut.
#include "system/run_fixture.h"

namespace paceline {
namespace {

// The sums of a step are rounded in another order when its shares are others.
constexpr double kTolerance = 2e-5;

class Equality : public SyntheticRun, public ::testing::WithParamInterface<int> {
 protected:
  // Trains with the given number of workers: on threads, and with 1, 2 and 3 servers.
  void run_all(const Arguments& common) {
    const std::string workers = std::to_string(GetParam());
    const auto with = [&](Arguments more) {
      more.insert(more.end(), common.begin(), common.end());
      return more;
    };
    run("one", with({"--exchange", "local", "--workers", "1"}));
    run("local", with({"--exchange", "local", "--workers", workers}));
    for (const char* servers : {"1", "2", "3"}) {
      run(std::string("ps") + servers, with({"--workers", workers, "--servers", servers}));
    }
  }
};

// What all tests that compare weights rely on.
TEST(Difference, IsInfiniteWhereNumbersAreNone) {
  const float none = std::nanf("");
  EXPECT_EQ(difference({1, 2}, {1, 2}), 0);
  EXPECT_EQ(difference({0, 0}, {0, 0}), 0);
  EXPECT_EQ(difference({4, 2}, {4, 1}), 0.25);
  EXPECT_GT(difference({1, 2}, {none, 2}), 1e300);
  EXPECT_GT(difference({none, 2}, {1, 2}), 1e300);
  EXPECT_GT(difference({none, 2}, {none, 2}), 1e300);
  EXPECT_GT(difference({1, 2}, {1, 2, 3}), 1e300);
}

TEST_P(Equality, WithinRounding) {
  run_all({});
  for (const char* name : {"local", "ps1", "ps2", "ps3"}) {
    EXPECT_LT(difference(parameters("one"), parameters(name)), kTolerance) << name;
  }
}

TEST_P(Equality, BitForBitWhenDeterministic) {
  run_all({"--deterministic", "--optimizer", "momentum", "--rate", "0.05"});
  for (const char* name : {"local", "ps1", "ps2", "ps3"}) {
    EXPECT_EQ(parameters("one"), parameters(name)) << name;
  }
}

// From 1 MiB on, a thread of the worker sends and receives while it computes.
using LargeModel = SyntheticRun;
const Arguments kLarge = {"--synthetic-width",
                          "30000",
                          "--synthetic-examples",
                          "400",
                          "--batch",
                          "40",
                          "--epochs",
                          "2",
                          "--rate",
                          "0.001"};

TEST_F(LargeModel, EndsWithTheSameWeights) {
  const auto with = [&](Arguments more) {
    more.insert(more.end(), kLarge.begin(), kLarge.end());
    return more;
  };
  run("one", with({"--exchange", "local", "--workers", "1"}));
  run("ps", with({"--workers", "2", "--servers", "2"}));
  run("halves", with({"--workers", "2", "--wire", "bf16"}));
  run("ssp", with({"--workers", "2", "--mode", "ssp"}));
  EXPECT_LT(difference(parameters("one"), parameters("ps")), 1e-4);
  EXPECT_LT(difference(parameters("one"), parameters("halves")), 0.05);
  EXPECT_EQ(summary("ssp")["examples"], 800);
}

TEST_F(LargeModel, EndsCleanlyWhenItsGradientIsNotFinite) {
  Arguments arguments = train("run", {"--servers", "2"});
  arguments.insert(arguments.end(), kLarge.begin(), kLarge.end());
  arguments.back() = "1e38";
  const Result result = paceline(arguments);
  EXPECT_EQ(result.code, 6);
  EXPECT_NE(result.output.find("not finite"), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Workers, Equality, ::testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace paceline

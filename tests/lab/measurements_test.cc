#include "lab/measurements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/temp_dir.h"
#include "lab/fake_program.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class MeasurementsTest : public ::testing::Test {
 protected:
  TempDir folder_;
  Runner runner_;
  BenchPlaces places_{folder_ / "apps/paceline", folder_ / "bench",
                      [this] { return folder_ / "cache/mnist"; }, folder_ / "clicks"};
  Measurements measurements_{places_, runner_};
};

double accuracy_of(const nlohmann::json& summary) {
  return number_in(summary, "test_accuracy", "paceline");
}

TEST_F(MeasurementsTest, AProgramsFieldIsScaledToTheUnitOfTheSide) {
  write_program(folder_ / "bench/echo", R"(echo "{\"seconds\": 0.25, \"first\": \"$1\"}")");
  const Sample sample = measurements_.program({"echo", {"32768"}, "seconds", 1e6})();
  EXPECT_EQ(sample.value, 250000);
  EXPECT_EQ(sample.report["first"], "32768");
}

TEST_F(MeasurementsTest, AMissingFieldIsNamed) {
  write_program(folder_ / "bench/echo", R"(echo '{"seconds": "many"}')");
  try {
    measurements_.program({"echo", {}, "seconds"})();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "echo reported no number 'seconds'");
  }
}

TEST_F(MeasurementsTest, ProgramsOnMnistGetItsFolderFirst) {
  write_program(folder_ / "bench/bare", R"(echo "{\"x\": 1, \"arguments\": \"$*\"}")");
  EXPECT_EQ(measurements_.on_mnist({"bare", {"100", "10"}, "x"})().report["arguments"],
            (folder_ / "cache/mnist").string() + " 100 10");
}

TEST_F(MeasurementsTest, ATrainingIsARunOfTheBinaryAndItsSummaryIsRead) {
  // Leaves its arguments in the summary; --run-dir is the only one it needs itself.
  write_program(folder_ / "apps/paceline", R"(
all="$*"
while [ "$1" != --run-dir ]; do shift; done
mkdir -p "$2"
echo "{\"test_accuracy\": 0.92, \"arguments\": \"$all\"}" >"$2/summary.json"
echo '{"type": "summary"}')");
  const Sample sample = measurements_.training("async", accuracy_of)();
  EXPECT_EQ(sample.value, 0.92);
  const std::string arguments = sample.report["arguments"];
  EXPECT_THAT(arguments, HasSubstr("train mnist "));
  EXPECT_THAT(arguments, HasSubstr("--mode async --workers 2 --servers 1"));
  EXPECT_THAT(arguments, HasSubstr("--batch 100 --rate 0.5 --epochs 10"));
  EXPECT_THAT(arguments, HasSubstr("--data-dir " + (folder_ / "cache").string()));
  EXPECT_THAT(arguments, HasSubstr("--json --quiet"));
}

TEST_F(MeasurementsTest, ARunWithoutASummaryIsAFailure) {
  write_program(folder_ / "apps/paceline", "echo '{}'");
  EXPECT_THROW(measurements_.training("sync", accuracy_of)(), DataError);
}

TEST(Measurements, TheLargerOfTwoIsTaken) {
  const Measure small = [] { return Sample{1, "small"}; };
  const Measure large = [] { return Sample{2, "large"}; };
  EXPECT_EQ(larger_of(small, large)().report, "large");
  EXPECT_EQ(larger_of(large, small)().report, "large");
}

}  // namespace
}  // namespace paceline

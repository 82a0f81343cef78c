// Runs on sparse rows: logistic and linear regression on text in LIBSVM's format.
#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "base/text.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Every row has ten of 2,000 features; the label follows from hidden weights.
class RowsRun : public SyntheticRun {
 protected:
  RowsRun() {
    write_rows("train.svm", 0, 6000);
    write_rows("test.svm", 6000, 7000);
  }

  void write_rows(const std::string& name, std::uint64_t begin, std::uint64_t end,
                  bool numbers = false) {
    std::string text;
    for (std::uint64_t i = begin; i < end; ++i) {
      Random random(random_bits(5, {i}));
      double score = 0;
      std::string features;
      for (int k = 0; k < 10; ++k) {
        const std::uint64_t key = 1 + random.below(2000);
        const double value = k < 3 ? std::round(100 * random.uniform()) / 100 : 1;
        score += value * Random(random_bits(6, {key})).normal();
        features += fmt::format(" {}:{}", key, value);
      }
      text += numbers ? fmt::format("{:.4f}", score) : score > 0 ? "1" : "-1";
      text += features + "\n";
    }
    write_atomically(path(name), text);
  }

  Arguments clicks(const std::string& name, const Arguments& more) const {
    // clang-format off
    Arguments arguments = {
        "train", "clicks", "--run-dir", path(name).string(), "--quiet",
        "--data-file", path("train.svm").string(), "--test-file", path("test.svm").string(),
        "--cache-dir", path("cache").string(), "--bits", "11", "--batch", "100",
        "--epochs", "4", "--rate", "0.3"};
    // clang-format on
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(RowsRun, LearnsWithAnyOptimizerAndNumberOfThreads) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"one", {"--workers", "1"}},
           {"two", {"--workers", "2"}},
           {"adagrad", {"--optimizer", "adagrad"}},
           {"sgd", {"--optimizer", "sgd", "--rate", "0.1"}}}) {
    const Result result = paceline(clicks(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_GT(summary(name)["test_auc"], 0.85) << name;
    EXPECT_GT(summary(name)["test_accuracy"], 0.75) << name;
    EXPECT_LT(summary(name)["test_loss"], 0.6) << name;
    EXPECT_EQ(summary(name)["examples"], 24'000) << name;
    EXPECT_THAT(summary(name)["epoch_results"], SizeIs(4)) << name;
  }
}

TEST_F(RowsRun, IsTestedPredictedAndWrittenDown) {
  ASSERT_EQ(paceline(clicks("run", {})).code, 0);
  const Result tested = paceline({"evaluate", path("run").string(), "--json"});
  ASSERT_EQ(tested.code, 0) << tested.output;
  EXPECT_NEAR(nlohmann::json::parse(tested.output)["loss"].get<double>(),
              summary("run")["test_loss"].get<double>(), 1e-5);
  const Result labels =
      paceline({"predict", path("run").string(), "--input", path("test.svm").string()});
  const auto lines = split(labels.output, '\n');
  ASSERT_THAT(lines, SizeIs(1001));
  int right = 0;
  const auto rows = split(read_text(path("test.svm")), '\n');
  for (int i = 0; i < 1000; ++i) right += (lines[i] == "1") == (rows[i][0] == '1') ? 1 : 0;
  EXPECT_NEAR(right / 1000.0, summary("run")["test_accuracy"].get<double>(), 1e-9);
  ASSERT_EQ(paceline({"export", path("run").string(), path("weights.tsv").string()}).code, 0);
  const std::string weights = read_text(path("weights.tsv"));
  EXPECT_TRUE(weights.starts_with("key\tweight\n"));
  EXPECT_THAT(weights, HasSubstr("\nconstant\t"));
}

TEST_F(RowsRun, L1LeavesFewWeights) {
  const auto weights_with = [&](const std::string& l1) {
    EXPECT_EQ(paceline(clicks(l1, {"--l1", l1})).code, 0);
    EXPECT_EQ(paceline({"export", path(l1).string(), path("weights.tsv").string()}).code, 0);
    return split(read_text(path("weights.tsv")), '\n').size();
  };
  const std::size_t all = weights_with("0");
  EXPECT_GT(all, 1900U);
  EXPECT_LT(weights_with("12"), all / 2);
}

TEST_F(RowsRun, OneThreadThatIsStoppedGoesOnAsIfItHadNotBeen) {
  const Arguments one = {"--workers", "1"};
  ASSERT_EQ(paceline(clicks("whole", one)).code, 0);
  ASSERT_EQ(paceline(clicks("cut", {"--workers", "1", "--epochs", "2"})).code, 0);
  const Result rest =
      paceline({"train", "--resume", path("cut").string(), "--epochs", "4", "--quiet"});
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_EQ(parameters("cut"), parameters("whole"));
}

TEST_F(RowsRun, LearnsNumbers) {
  write_rows("train.svm", 0, 6000, true);
  write_rows("test.svm", 6000, 7000, true);
  const Result result = paceline(clicks("run", {"--model", "regression", "--epochs", "10"}));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_LT(summary("run")["test_loss"], 0.5);
  EXPECT_FALSE(summary("run").contains("test_auc"));
}

// Of the same steps, however many take part and wherever the table is.
TEST_F(RowsRun, SynchronousRunsAgree) {
  const Arguments sync = {"--mode", "sync", "--epochs", "2"};
  const auto with = [&](Arguments more) {
    more.insert(more.begin(), sync.begin(), sync.end());
    return more;
  };
  ASSERT_EQ(paceline(clicks("one", with({"--workers", "1"}))).code, 0);
  const Result two = paceline(clicks("two", with({"--workers", "2", "--exchange", "ps"})));
  ASSERT_EQ(two.code, 0) << two.output;
  const auto a = parameters("one");
  const auto b = parameters("two");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
}

TEST_F(RowsRun, BadLinesAreCountedOrEndTheRun) {
  write_atomically(path("train.svm"), read_text(path("train.svm")) + "junk\n1 5000:1\n1 1:nan\n");
  const Result some = paceline(clicks("some", {}));
  ASSERT_EQ(some.code, 0) << some.output;
  const Result none = paceline(clicks("none", {"--max-bad", "2", "--bits", "10"}));
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.output, AllOf(HasSubstr("--max-bad is 2"), HasSubstr("train.svm:1:")));
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

TEST_F(RowsRun, SaysWhatIsMissing) {
  const Result no_file = paceline({"train", "clicks"});
  EXPECT_EQ(no_file.code, 2);
  EXPECT_THAT(no_file.output, HasSubstr("--data-file"));
  const Result images = paceline({"train", "synthetic", "--model", "logistic"});
  EXPECT_EQ(images.code, 2);
  EXPECT_THAT(images.output, HasSubstr("--data rows"));
  for (const Arguments& wrong :
       {Arguments{"--optimizer", "adam"}, {"--clip", "1"}, {"--init", "x"}}) {
    EXPECT_EQ(paceline(clicks("wrong", wrong)).code, 2) << wrong[0];
  }
  const Result wild = paceline(clicks("wild", {"--optimizer", "sgd", "--rate", "1e38"}));
  EXPECT_EQ(wild.code, 6) << wild.output;
}

}  // namespace
}  // namespace paceline

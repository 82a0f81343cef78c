// Whole runs of models on libtorch, which the program loads when it needs them.
#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

// Reviews that are good when "good" is among their words.
class ReviewsRun : public SyntheticRun {
 protected:
  ReviewsRun() {
    Random random(3);
    std::string lines;
    for (int i = 0; i < 600; ++i) {
      const bool good = random.below(2) == 1;
      std::string text;
      const std::uint64_t length = 2 + random.below(6);
      const std::uint64_t place = random.below(length);
      for (std::uint64_t w = 0; w < length; ++w) {
        text += good && w == place ? " good" : " word" + std::to_string(random.below(20));
      }
      lines += (good ? "1\t" : "0\t") + text + "\n";
    }
    write_atomically(path("reviews.tsv"), lines);
  }

  Arguments reviews(const std::string& name, const Arguments& more) const {
    // clang-format off
    Arguments arguments = {
        "train", "sentiment", "--run-dir", path(name).string(), "--quiet", "--data", "reviews",
        "--data-file", path("reviews.tsv").string(), "--vocabulary", "30", "--test-share", "0.2",
        "--embedding", "8", "--hidden", "8", "--dropout", "0", "--rate", "0.02",
        "--batch", "50", "--epochs", "8"};
    // clang-format on
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(ReviewsRun, LearnsAndIsTheSameHoweverItIsCut) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"one", {"--workers", "1"}},
           {"ps", {"--workers", "2", "--servers", "2"}},
           {"ring", {"--workers", "2", "--exchange", "allreduce"}},
           {"step", {"--workers", "2", "--rnn", "step"}}}) {
    const Result result = paceline(reviews(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_GT(summary(name)["test_accuracy"], 0.95) << name;
    EXPECT_GT(summary(name)["test_f1"], 0.95) << name;
    EXPECT_NEAR(summary(name)["train_loss"].get<double>(),
                summary("one")["train_loss"].get<double>(), 1e-3)
        << name;
  }
  const Result tested = paceline({"evaluate", path("ring").string(), "--json"});
  ASSERT_EQ(tested.code, 0) << tested.output;
  EXPECT_NEAR(nlohmann::json::parse(tested.output)["accuracy"].get<double>(),
              summary("ring")["test_accuracy"].get<double>(), 1e-9);
}

TEST_F(ReviewsRun, RefusesDataThatDoNotFit) {
  const Result images = paceline({"train", "sentiment", "--data", "synthetic", "--run-dir",
                                  path("run").string(), "--vocabulary", "30"});
  EXPECT_NE(images.code, 0);
  const Result other =
      paceline({"train", "synthetic", "--model", "sentiment", "--run-dir", path("run").string()});
  EXPECT_EQ(other.code, 2) << other.output;
  EXPECT_THAT(other.output, HasSubstr("sentiment learns from texts with labels"));
  write_atomically(path("reviews.tsv"), "1\tgood\nno label here\n");
  const Result broken = paceline(reviews("run", {}));
  EXPECT_EQ(broken.code, 3) << broken.output;
  EXPECT_THAT(broken.output, HasSubstr("line 2: expected LABEL<tab>TEXT"));
}

}  // namespace
}  // namespace paceline

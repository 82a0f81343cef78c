// A network is trained on some images; then its last layer alone, on the features it has.
#include <gmock/gmock.h>

#include "base/plugin.h"
#include "base/process.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

class Transfer : public SyntheticRun {
 protected:
  Arguments quality(const std::string& name, const Arguments& more) const {
    // clang-format off
    Arguments arguments = {
        "train", "--run-dir", path(name).string(), "--quiet", "--data", "synthetic",
        "--model", "image-quality", "--synthetic-image", "16", "--synthetic-classes", "4",
        "--synthetic-examples", "200", "--synthetic-test-examples", "100", "--batch", "20",
        "--epochs", "4", "--optimizer", "momentum", "--rate", "0.02", "--workers", "2"};
    // clang-format on
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void train_quality(const std::string& name, const Arguments& more) const {
    const Result result = paceline(quality(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
  }
  double accuracy(const std::string& name) const { return summary(name)["test_accuracy"]; }
};

TEST_F(Transfer, TheTopLearnsOnFeaturesOfAnotherRun) {
  train_quality("base", {});
  EXPECT_GT(accuracy("base"), 0.9);
  // Other labels for a start: the classes have changed places with the seed.
  const Arguments top = {"--train",          "top", "--init",   path("base").string(),
                         "--synthetic-seed", "2",   "--epochs", "3"};
  for (const auto& [name, more] :
       std::vector<std::pair<std::string, Arguments>>{{"ps", {"--servers", "2"}},
                                                      {"local", {"--exchange", "local"}},
                                                      {"one", {"--workers", "1"}},
                                                      {"ring", {"--exchange", "allreduce"}}}) {
    Arguments all = top;
    all.insert(all.end(), more.begin(), more.end());
    train_quality(name, all);
    EXPECT_NEAR(summary(name)["train_loss"].get<double>(),
                summary("ps")["train_loss"].get<double>(), 1e-4)
        << name;
    EXPECT_EQ(parameters(name).size(), 128U * 4 + 4) << name;  // the rest was never sent
    for (const std::string& file : names_in(path(name))) {
      EXPECT_FALSE(file.starts_with("features-")) << file;
    }
  }
  EXPECT_LT(summary("ps")["roles"][1]["bytes_in"], summary("base")["roles"][1]["bytes_in"]);
  std::filesystem::remove_all(path("base"));  // all that is needed was taken from it
  const Result tested = paceline({"evaluate", path("ring").string(), "--json"});
  ASSERT_EQ(tested.code, 0) << tested.output;
  EXPECT_NEAR(nlohmann::json::parse(tested.output)["accuracy"].get<double>(), accuracy("ring"),
              1e-9);
  // And from the top on to all of it.
  train_quality("all", {"--init", path("ps").string(), "--synthetic-seed", "2"});
  EXPECT_GT(accuracy("all"), 0.9);
}

TEST_F(Transfer, TheTopHasACeilingAndItsWeightsAreExportedWithTheFrozenOnes) {
  train_quality("base", {"--epochs", "1"});
  const Arguments top = {"--train", "top", "--init", path("base").string(), "--epochs", "1"};
  Arguments ceiling = top;
  ceiling.emplace_back("--ideal");
  const Result ideal = paceline(quality("ideal", ceiling));
  ASSERT_EQ(ideal.code, 0) << ideal.output;
  EXPECT_FALSE(std::filesystem::exists(path("ideal")));
  train_quality("top", top);
  for (const char* run : {"base", "top"}) {
    const auto file = path(run).string() + ".pt";
    const Result exported = paceline({"export", path(run).string(), file});
    ASSERT_EQ(exported.code, 0) << exported.output;
  }
  write_atomically(path("compare.py"), R"(
import sys, torch
base, top = torch.load(sys.argv[1]), torch.load(sys.argv[2])
assert base.keys() == top.keys(), (base.keys(), top.keys())
for name in base:
    assert torch.equal(base[name], top[name]) == name.startswith("backbone."), name
)");
  std::string said;
  const Finished compared =
      paceline::run({.arguments = {"/usr/bin/python3", path("compare.py").string(),
                                   path("base.pt").string(), path("top.pt").string()},
                     .output = {},
                     .keep = {},
                     .dies_with_parent = true,
                     .directory = {}},
                    &said);
  EXPECT_TRUE(compared.ok()) << said;
}

TEST_F(Transfer, AStoppedRunGoesOnWithTheSameFrozenPart) {
  train_quality("base", {"--epochs", "1"});
  const Arguments top = {"--train", "top", "--init", path("base").string()};
  Arguments four = top;
  four.insert(four.end(), {"--epochs", "4", "--deterministic"});
  train_quality("whole", four);
  Arguments two = top;
  two.insert(two.end(), {"--epochs", "2", "--deterministic"});
  train_quality("parts", two);
  const Result again =
      paceline({"train", "--resume", path("parts").string(), "--init", path("whole").string()});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.output, HasSubstr("--init has no effect with --resume"));
  std::filesystem::remove_all(path("base"));
  const Result resumed = paceline(
      {"train", "--resume", path("parts").string(), "--epochs", "4", "--workers", "1", "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(parameters("parts"), parameters("whole"));
}

TEST_F(Transfer, WorkersComputeWithAsManyThreadsAsAsked) {
  for (const char* threads : {"1", "2"}) {
    train_quality(
        threads, {"--threads", threads, "--epochs", "1", "--log-level", "debug", "--workers", "1"});
    EXPECT_THAT(
        read_text(path(threads) / "logs/worker0.log"),
        HasSubstr("loads libpaceline_torch.so with OMP_NUM_THREADS=" + std::string(threads)));
  }
}

// It says so itself while it is loaded. Which kernels it would choose depends on its age.
TEST_F(Transfer, OpenBlasUsesWhatTheProcessorHas) {
  ::unsetenv("OPENBLAS_CORETYPE");
  ::setenv("OPENBLAS_VERBOSE", "2", 1);
  const Result result = paceline(quality("run", {"--epochs", "1", "--exchange", "local"}));
  ::unsetenv("OPENBLAS_VERBOSE");
  ASSERT_EQ(result.code, 0) << result.output;
  const std::string kernels = blas_kernels();
  EXPECT_THAT(result.output, HasSubstr("Core: " + kernels));
}

TEST_F(Transfer, SaysWhatIsMissing) {
  const Result alone = paceline(quality("run", {"--train", "top"}));
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.output, HasSubstr("--init"));
  ASSERT_EQ(paceline(train("softmax", {})).code, 0);
  const Result other =
      paceline(quality("run", {"--train", "top", "--init", path("softmax").string()}));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.output, HasSubstr("backbone.0.convolution.weight"));
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

}  // namespace
}  // namespace paceline

// Runs on sparse rows: logistic and linear regression on text in LIBSVM's format.
#include <gmock/gmock.h>

#include <cmath>
#include <csignal>

#include "base/random.h"
#include "base/text.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
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

// One line says who died, what that means and how to go on; what others have seen of it is in
// their logs.
TEST_F(RowsRun, AKilledServerIsTheOnlyOneThatIsMissed) {
  for (const std::string mode : {"sync", "async"}) {
    PacelineProcess process(dir_.path(),
                            clicks(mode, {"--exchange", "ps", "--mode", mode, "--servers", "2",
                                          "--workers", "2", "--epochs", "100000"}));
    ASSERT_TRUE(eventually(20, [&] {
      return std::filesystem::exists(path(mode) / "metrics.jsonl") &&
             read_text(path(mode) / "metrics.jsonl").find("epoch") != std::string::npos;
    })) << process.output();
    ::kill(process.roles("server1", 1).at(0), SIGKILL);
    EXPECT_EQ(process.wait(), 4) << process.output();
    EXPECT_THAT(process.output(),
                AllOf(HasSubstr("server1 is lost: it was killed by signal 9 (Killed); its "
                                "parameters are gone; nothing was saved yet: start anew, with "
                                "--checkpoint-every 1"),
                      Not(HasSubstr("worker0 is lost")), Not(HasSubstr("worker1 is lost")),
                      Not(HasSubstr("evaluator0 is lost"))));
    EXPECT_THAT(read_text(path(mode) / "logs" / "chief.log"),
                AllOf(HasSubstr("server1 is lost"), Not(HasSubstr("worker0 is lost")),
                      Not(HasSubstr("worker1 is lost"))));
  }
}

TEST_F(RowsRun, WhatAKilledServerHadIsLearnedAgain) {
  const Arguments sync = {"--mode", "sync", "--deterministic"};
  Arguments arguments = clicks("run", sync);
  arguments.insert(arguments.end(), {"--exchange", "ps", "--servers", "2", "--workers", "2",
                                     "--epochs", "100000", "--checkpoint-every", "1"});
  PacelineProcess process(dir_.path(), arguments);
  ASSERT_TRUE(eventually(20, [&] {
    const auto folder = path("run") / "checkpoints";
    return std::filesystem::exists(folder) && names_in(folder).size() > 1;
  })) << process.output();
  ::kill(process.roles("server1", 1).at(0), SIGKILL);
  EXPECT_EQ(process.wait(), 4) << process.output();
  const std::string epochs = std::to_string(learned_by(path("run")).version / 60 + 3);
  const Result resumed =
      paceline({"train", "--resume", path("run").string(), "--quiet", "--epochs", epochs});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  Arguments whole = clicks("whole", sync);
  whole.insert(whole.end(), {"--workers", "1", "--epochs", epochs});
  expect_undisturbed("run", whole);
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

// Click logs are rotated and deleted while runs on them go on.
TEST_F(RowsRun, DoesNotMissItsFilesOnceTheyAreOpen) {
  write_atomically(path("test.svm"), read_text(path("test.svm")) + "junk\n");
  const std::string train = read_text(path("train.svm"));
  const std::string test = read_text(path("test.svm"));
  for (const std::string exchange : {"local", "ps"}) {
    write_atomically(path("train.svm"), train);
    write_atomically(path("test.svm"), test);
    PacelineProcess process(dir_.path(),
                            clicks(exchange, {"--exchange", exchange, "--epochs", "100000"}));
    ASSERT_TRUE(eventually(20, [&] {
      return std::filesystem::exists(path(exchange) / "metrics.jsonl") &&
             read_text(path(exchange) / "metrics.jsonl").find("test_auc") != std::string::npos;
    })) << process.output();
    std::filesystem::remove(path("train.svm"));
    std::filesystem::remove(path("test.svm"));
    process.signal(SIGINT);
    EXPECT_EQ(process.wait(), 130) << process.output();
    EXPECT_EQ(summary(exchange)["bad_lines"], 1) << exchange;
  }
}

TEST_F(RowsRun, IsTestedOnAnotherFile) {
  ASSERT_EQ(paceline(clicks("run", {})).code, 0);
  const auto evaluate = [&](const std::string& file) {
    return paceline(
        {"evaluate", path("run").string(), "--test-file", path(file).string(), "--json"});
  };
  const Result same = evaluate("test.svm");
  ASSERT_EQ(same.code, 0) << same.output;
  EXPECT_NEAR(nlohmann::json::parse(same.output)["auc"].get<double>(),
              summary("run")["test_auc"].get<double>(), 1e-6);
  write_rows("other.svm", 7000, 7500);
  write_atomically(path("other.svm"), read_text(path("other.svm")) + "junk\n");
  std::filesystem::remove(path("train.svm"));  // what is learned does not need it
  const Result other = evaluate("other.svm");
  ASSERT_EQ(other.code, 0) << other.output;
  const auto figures = nlohmann::json::parse(other.output);
  EXPECT_EQ(figures["examples"], 500);
  EXPECT_EQ(figures["bad_lines"], 1);
  EXPECT_EQ(figures["data"], path("other.svm").string());
  EXPECT_GT(figures["auc"], 0.85);
  EXPECT_EQ(evaluate("none.svm").code, 3);
  run("images", {});
  const Result images =
      paceline({"evaluate", path("images").string(), "--test-file", path("test.svm").string()});
  EXPECT_EQ(images.code, 2);
  EXPECT_THAT(images.output, HasSubstr("--test-file is for runs on sparse rows"));
}

TEST_F(RowsRun, PredictsRowsWithoutLabelsOfTheFormatItKnows) {
  ASSERT_EQ(paceline(clicks("run", {})).code, 0);
  std::string text;
  for (const std::string& line : split(read_text(path("test.svm")), '\n')) {
    if (!line.empty()) text += line.substr(line.find(' ') + 1) + "\n";
  }
  write_atomically(path("new.svm"), text);
  const Result with =
      paceline({"predict", path("run").string(), "--input", path("test.svm").string()});
  const Result without =
      paceline({"predict", path("run").string(), "--input", path("new.svm").string()});
  EXPECT_EQ(without.code, 0);
  EXPECT_EQ(with.output, without.output);
  write_atomically(path("new.vw"), "1 |a x y\n");
  const Result other =
      paceline({"predict", path("run").string(), "--input", path("new.vw").string()});
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.output, HasSubstr("new.vw:1: expected INDEX:VALUE"));
}

TEST_F(RowsRun, OtherModelsSayThatTheyCannotLearnThem) {
  const Result result = paceline(clicks("run", {"--model", "softmax"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.output, HasSubstr("softmax cannot learn from sparse rows"));
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
  for (const std::string mode : {"async", "sync"}) {
    const std::string whole = "whole " + mode;
    const std::string cut = "cut " + mode;
    ASSERT_EQ(paceline(clicks(whole, {"--workers", "1", "--mode", mode})).code, 0);
    const Result half = paceline(clicks(cut, {"--workers", "1", "--mode", mode, "--epochs", "2"}));
    ASSERT_EQ(half.code, 0) << half.output;
    const Result rest =
        paceline({"train", "--resume", path(cut).string(), "--epochs", "4", "--quiet"});
    ASSERT_EQ(rest.code, 0) << rest.output;
    EXPECT_EQ(parameters(cut), parameters(whole)) << mode;
  }
}

TEST_F(RowsRun, ThreadsThatStepTogetherEndTogetherWhenTheyDiverge) {
  const Result result =
      paceline(clicks("run", {"--workers", "3", "--mode", "sync", "--model", "regression",
                              "--optimizer", "sgd", "--rate", "1e38"}));
  EXPECT_EQ(result.code, 6);
  EXPECT_THAT(result.output, HasSubstr("not finite"));
}

TEST_F(RowsRun, LearnsNumbers) {
  write_rows("train.svm", 0, 6000, true);
  write_rows("test.svm", 6000, 7000, true);
  const Result result = paceline(clicks("run", {"--model", "regression", "--epochs", "10"}));
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_LT(summary("run")["test_loss"], 0.5);
  EXPECT_FALSE(summary("run").contains("test_auc"));
}

// A number is never right or wrong: what people see is how far it is from the truth.
TEST_F(RowsRun, NumbersHaveAnErrorAndNoAccuracy) {
  write_rows("train.svm", 0, 6000, true);
  write_rows("test.svm", 6000, 7000, true);
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"threads", {}},
           {"servers", {"--exchange", "ps", "--mode", "sync"}},
           {"dense", {"--exchange", "ps", "--transfer", "dense"}},
           {"ring", {"--exchange", "allreduce", "--mode", "sync"}}}) {
    Arguments arguments = clicks(name, {"--model", "regression"});
    std::erase(arguments, "--quiet");
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = paceline(arguments);
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_THAT(result.output, AllOf(HasSubstr("test rmse 0."), Not(HasSubstr("accuracy"))));
    EXPECT_THAT(read_text(path(name) / "metrics.jsonl"), Not(HasSubstr("accuracy")));
    EXPECT_THAT(summary(name).dump(), AllOf(Not(HasSubstr("accuracy")), Not(HasSubstr("f1"))));
    const double rmse = summary(name)["test_rmse"];
    EXPECT_NEAR(rmse * rmse / 2, summary(name)["test_loss"].get<double>(), 1e-9) << name;
    const Result tested = paceline({"evaluate", path(name).string(), "--json"});
    const auto figures = nlohmann::json::parse(tested.output);
    EXPECT_NEAR(figures["rmse"].get<double>(), rmse, 1e-5) << name;
    EXPECT_FALSE(figures.contains("accuracy"));
  }
}

// Of the same steps, however many take part, wherever the rows are, and whatever travels.
TEST_F(RowsRun, SynchronousRunsAgree) {
  const auto run = [&](const std::string& name, Arguments more) {
    const Arguments sync = {"--mode", "sync", "--epochs", "2", "--decay", "0.001"};
    more.insert(more.begin(), sync.begin(), sync.end());
    const Result result = paceline(clicks(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_EQ(summary(name)["examples"], 12'000) << name;
  };
  for (const char* optimizer : {"ftrl", "adagrad"}) {
    run("one", {"--workers", "1", "--transfer", "dense", "--optimizer", optimizer});
    run("threads", {"--workers", "3", "--optimizer", optimizer});
    EXPECT_LT(difference(parameters("one"), parameters("threads")), 1e-6) << optimizer;
    std::filesystem::remove_all(path("threads"));
    for (const char* workers : {"1", "2", "3"}) {
      run("ps",
          {"--exchange", "ps", "--workers", workers, "--servers", "2", "--optimizer", optimizer});
      EXPECT_LT(difference(parameters("one"), parameters("ps")), 1e-6) << workers << optimizer;
      EXPECT_NEAR(summary("one")["test_loss"].get<double>(),
                  summary("ps")["test_loss"].get<double>(), 1e-6);
      std::filesystem::remove_all(path("ps"));
    }
    std::filesystem::remove_all(path("one"));
  }
}

TEST_F(RowsRun, SynchronousRunsHaveTheSameBitsWhenDeterministic) {
  const auto run = [&](const std::string& name, Arguments more) {
    const Arguments sync = {"--mode", "sync", "--epochs", "2", "--deterministic"};
    more.insert(more.begin(), sync.begin(), sync.end());
    const Result result = paceline(clicks(name, more));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
  };
  run("one", {"--workers", "1"});
  run("two", {"--workers", "2", "--exchange", "ps"});
  run("three", {"--workers", "3", "--exchange", "ps", "--servers", "3"});
  run("threads", {"--workers", "3"});
  run("dense", {"--workers", "2", "--exchange", "ps", "--transfer", "dense"});
  run("dense threads", {"--workers", "2", "--transfer", "dense"});
  for (const char* name : {"two", "three", "threads", "dense", "dense threads"}) {
    EXPECT_EQ(parameters("one"), parameters(name)) << name;
  }
}

// Whoever is ahead, and however far: about as good as step by step.
TEST_F(RowsRun, AsynchronousRunsLearnAsWell) {
  ASSERT_EQ(paceline(clicks("sync", {"--mode", "sync", "--workers", "1", "--epochs", "8"})).code,
            0);
  const double expected = summary("sync")["test_loss"];
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"async", {"--mode", "async"}},
           {"ssp0", {"--mode", "ssp", "--staleness", "0"}},
           {"ssp2", {"--mode", "ssp", "--staleness", "2", "--servers", "3"}},
           {"ssp16", {"--mode", "ssp", "--staleness", "16", "--workers", "3"}}}) {
    Arguments arguments = {"--exchange", "ps", "--epochs", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = paceline(clicks(name, arguments));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_EQ(summary(name)["examples"], 48'000) << name;
    EXPECT_NEAR(summary(name)["test_loss"].get<double>() / expected, 1, 0.01) << name;
  }
}

// What the servers say of the test rows is what anybody says who has the weights.
TEST_F(RowsRun, IsTestedBesideTheTable) {
  const Arguments ps = {"--exchange", "ps", "--servers", "3", "--mode", "sync", "--epochs", "2"};
  ASSERT_EQ(paceline(clicks("run", ps)).code, 0);
  const Result tested = paceline({"evaluate", path("run").string(), "--json"});
  ASSERT_EQ(tested.code, 0) << tested.output;
  const auto figures = nlohmann::json::parse(tested.output);
  EXPECT_NEAR(figures["loss"].get<double>(), summary("run")["test_loss"].get<double>(), 1e-6);
  EXPECT_NEAR(figures["auc"].get<double>(), summary("run")["test_auc"].get<double>(), 1e-6);
  EXPECT_GT(summary("run")["test_auc"], 0.7);
}

// Whatever travels, and wherever the table is.
TEST_F(RowsRun, EveryRunTellsTheAreaUnderTheCurve) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"dense threads", {"--transfer", "dense"}},
           {"dense", {"--transfer", "dense", "--exchange", "ps"}},
           {"ring", {"--exchange", "allreduce"}}}) {
    Arguments arguments = {"--mode", "sync", "--epochs", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = paceline(clicks(name, arguments));
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr("test auc")) << name;
    const nlohmann::json epochs = summary(name)["epoch_results"];
    ASSERT_THAT(epochs, SizeIs(2)) << name;
    for (const auto& epoch : epochs) EXPECT_GT(epoch["test_auc"], 0.7) << name;
    const Result tested = paceline({"evaluate", path(name).string(), "--json"});
    EXPECT_NEAR(nlohmann::json::parse(tested.output)["auc"].get<double>(),
                summary(name)["test_auc"].get<double>(), 1e-9)
        << name;
  }
}

TEST_F(RowsRun, ServersGoOnFromACheckpoint) {
  const Arguments ps = {"--exchange", "ps", "--servers", "2", "--mode", "sync", "--workers", "1"};
  const auto with = [&](const Arguments& more) {
    Arguments all = ps;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(paceline(clicks("whole", ps)).code, 0);
  ASSERT_EQ(paceline(clicks("cut", with({"--epochs", "2"}))).code, 0);
  // With another number of servers.
  const Result rest = paceline(
      {"train", "--resume", path("cut").string(), "--epochs", "4", "--servers", "3", "--quiet"});
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_EQ(parameters("cut"), parameters("whole"));
}

// Steps so small that a share has no row on some servers.
TEST_F(RowsRun, SharesMayTouchNothingOnAServer) {
  write_rows("train.svm", 0, 101);
  for (const char* mode : {"sync", "ssp"}) {
    const Result result = paceline(clicks(mode, {"--exchange", "ps", "--mode", mode, "--servers",
                                                 "5", "--batch", "2", "--workers", "2"}));
    ASSERT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(summary(mode)["examples"], 404);
  }
}

// The others compute its shares; in sync mode with the same result.
TEST_F(RowsRun, AKilledWorkerIsReplaced) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kLong = 15;  // sanitizers make epochs longer
#elif defined(__SANITIZE_ADDRESS__)
  constexpr int kLong = 30;
#else
  constexpr int kLong = 60;
#endif
  const auto long_run = [&](const std::string& name, Arguments more) {
    more.insert(more.end(), {"--epochs", std::to_string(kLong), "--batch", "50"});
    return clicks(name, more);
  };
  for (const std::string mode : {"sync", "ssp", "async"}) {
    Arguments ps = {"--exchange", "ps", "--servers", "2", "--workers", "3", "--mode", mode};
    if (mode == "sync") ps.push_back("--deterministic");
    PacelineProcess process(dir_.path(), long_run(mode, ps));
    ASSERT_TRUE(eventually(20, [&] {
      const auto file = path(mode) / "metrics.jsonl";
      return std::filesystem::exists(file) && read_text(file).find("progress") != std::string::npos;
    }));
    const auto workers = process.roles("worker1", 1);
    ASSERT_EQ(workers.size(), 1U);
    ::kill(workers[0], SIGKILL);
    EXPECT_EQ(process.wait(), 0) << process.output();
    EXPECT_EQ(summary(mode)["examples"], 6'000 * kLong) << mode;
    if (mode == "sync") {
      expect_undisturbed(mode,
                         long_run("whole", {"--workers", "1", "--mode", mode, "--deterministic"}));
    }
    EXPECT_NEAR(
        summary(mode)["test_loss"].get<double>() / summary("whole")["test_loss"].get<double>(), 1,
        0.05)
        << mode;
  }
}

TEST_F(RowsRun, AResumedRunKeepsTheRateThatItsWeightsFollowFrom) {
  ASSERT_EQ(paceline(clicks("run", {"--epochs", "1"})).code, 0);
  const Result result =
      paceline({"train", "--resume", path("run").string(), "--epochs", "2", "--rate", "0.01"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.output, HasSubstr("leave it out"));
}

TEST_F(RowsRun, HalvesOnTheWireLearnAsWell) {
  for (const char* wire : {"float", "bf16"}) {
    const Result result = paceline(
        clicks(wire, {"--exchange", "ps", "--mode", "sync", "--wire", wire, "--epochs", "8"}));
    ASSERT_EQ(result.code, 0) << result.output;
  }
  EXPECT_NEAR(
      summary("bf16")["test_loss"].get<double>() / summary("float")["test_loss"].get<double>(), 1,
      0.01);
}

TEST_F(RowsRun, BadLinesAreCountedOrEndTheRun) {
  write_atomically(path("train.svm"), read_text(path("train.svm")) + "junk\n1 5000:1\n1 1:nan\n");
  const Result some = paceline(clicks("some", {}));
  ASSERT_EQ(some.code, 0) << some.output;
  EXPECT_EQ(summary("some")["bad_lines"], 3);
  // They count when the rows are there already, too.
  const Result again = paceline(clicks("again", {"--max-bad", "2"}));
  EXPECT_EQ(again.code, 3);
  EXPECT_THAT(again.output, HasSubstr("3 lines could not be parsed as libsvm, and --max-bad is 2"));
  const Result none = paceline(clicks("none", {"--max-bad", "2", "--bits", "10"}));
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.output, AllOf(HasSubstr("--max-bad is 2"), HasSubstr("train.svm:1:")));
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

TEST_F(RowsRun, WhatTravelsIsWhatADryRunSays) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"sync", {"--mode", "sync"}},
           {"bf16", {"--mode", "sync", "--wire", "bf16"}},
           {"exact", {"--mode", "sync", "--deterministic"}},
           {"async", {"--mode", "async"}}}) {
    Arguments arguments = clicks(name, {"--exchange", "ps", "--batch", "500", "--epochs", "8"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result run = paceline(arguments);
    ASSERT_EQ(run.code, 0) << run.output;
    double bytes = 0;
    const nlohmann::json roles = summary(name)["roles"];
    for (const auto& role : roles) {
      if (role["role"] != "worker") continue;
      bytes += role["bytes_in"].get<double>() + role["bytes_out"].get<double>();
    }
    arguments.insert(arguments.end(), {"--dry-run", "--json"});
    const auto estimate = nlohmann::json::parse(paceline(arguments).output)["estimate"];
    const double shares = estimate["steps"].get<double>() * (name == "async" ? 1 : 2);
    EXPECT_NEAR(bytes / shares / estimate["step_bytes_per_worker"].get<double>(), 1, 0.1) << name;
  }
}

TEST_F(RowsRun, TheTableIsInspectedWithoutData) {
  const Result inspected = paceline({"inspect", "clicks"});
  EXPECT_EQ(inspected.code, 0);
  EXPECT_THAT(inspected.output, AllOf(HasSubstr("67,108,865"), HasSubstr("--data-file")));
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

// Wrong input of every kind ends a run with a sentence and its exit code.
#include "data/idx_files.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

struct BadRun {
  const char* name;
  Arguments arguments;
  int code;
  const char* says;
};

class BadInput : public SyntheticRun, public ::testing::WithParamInterface<BadRun> {};

TEST_P(BadInput, EndsWithASentenceAndItsCode) {
  const BadRun& bad = GetParam();
  const Result result = paceline(train("run", bad.arguments));
  EXPECT_EQ(result.code, bad.code) << result.output;
  EXPECT_NE(result.output.find(bad.says), std::string::npos) << result.output;
}

std::ostream& operator<<(std::ostream& out, const BadRun& bad) {
  return out << bad.name;
}

INSTANTIATE_TEST_SUITE_P(
    System, BadInput,
    ::testing::Values(
        BadRun{"UnknownFlag", {"--batcch", "3"}, 2, "--batch"},
        BadRun{"BadValue", {"--epochs", "0"}, 2, "epochs"},
        BadRun{"NoSuchDirectory", {"--run-dir", "/dev/null/run"}, 3, "/dev/null/run"},
        BadRun{"TooLittleMemory", {"--memory-limit", "1M"}, 5, "available"},
        BadRun{"NotLoopback", {"--transport", "tcp", "--listen", "0.0.0.0"}, 2, "--insecure"},
        BadRun{"TooManyServers", {"--synthetic-width", "1", "--servers", "99"}, 2, "--servers"},
        BadRun{"TooLargeABatch", {"--batch", "998"}, 2, "use 997 or less"},
        BadRun{"NoUnit", {"--heartbeat", "5"}, 2, "5s"},
        BadRun{"NoBoolean", {"--deterministic=maybe"}, 2, "neither true nor false"},
        BadRun{"NotFinite", {"--rate", "1e38"}, 6, "nothing was saved"},
        BadRun{"NotFiniteRing", {"--rate", "1e38", "--exchange", "allreduce"}, 6, "not finite"},
        BadRun{"NotFiniteAsync", {"--rate", "1e38", "--mode", "async"}, 6, "not finite"}),
    [](const auto& bad) { return std::string(bad.param.name); });

using Train = SyntheticRun;

// A version whose gradient is not finite would lead to the same end again.
TEST_F(Train, ADivergedRunGoesOnFromTheCheckpointBefore) {
  const std::vector<std::pair<std::string, Arguments>> ways = {
      {"ps", {"--servers", "2"}},
      {"async", {"--mode", "async"}},
      {"local", {"--exchange", "local"}},
      {"allreduce", {"--exchange", "allreduce"}}};
  for (const auto& way : ways) {
    const std::string& exchange = way.first;
    Arguments first = way.second;
    first.insert(first.end(), {"--epochs", "1"});
    run(exchange, first);
    const auto go_on = [&](const std::string& rate) {
      return paceline({"train", "--resume", path(exchange).string(), "--quiet", "--epochs", "2",
                       "--rate", rate});
    };
    const Result diverged = go_on("1e38");
    EXPECT_EQ(diverged.code, 6) << diverged.output;
    EXPECT_NE(diverged.output.find("--rate 1e+37"), std::string::npos) << diverged.output;
    EXPECT_EQ(names_in(path(exchange) / "checkpoints"),
              std::vector<std::string>{"step-0000000010.ckpt"});
    EXPECT_EQ(go_on("0.2").code, 0);
  }
}

// The step before was the one that went too far, and the last of its epoch.
TEST_F(Train, ACheckpointThatLeadsNowhereIsNamed) {
  for (const std::string exchange : {"ps", "local", "allreduce"}) {
    const Result result =
        paceline(train(exchange, {"--rate", "3e37", "--batch", "997", "--exchange", exchange}));
    EXPECT_EQ(result.code, 6) << result.output;
    EXPECT_NE(result.output.find("remove it to go on"), std::string::npos) << result.output;
  }
}

// Its last step may be the one that goes too far: then there is no gradient that would tell.
TEST_F(Train, ParametersThatAreNotFiniteAreNotSaved) {
  for (const std::string exchange : {"ps", "local", "allreduce"}) {
    const Result result = paceline(train(
        exchange, {"--rate", "1e300", "--batch", "997", "--epochs", "1", "--exchange", exchange}));
    EXPECT_EQ(result.code, 6) << result.output;
    EXPECT_NE(result.output.find("after step 1 is not finite"), std::string::npos) << result.output;
    EXPECT_TRUE(names_in(path(exchange) / "checkpoints").empty());
  }
}

TEST_F(Train, EvaluatingWhatIsNotFiniteFails) {
  run("run", {"--rate", "1e38", "--nonfinite", "ignore"});
  const Result result = paceline({"evaluate", path("run").string()});
  EXPECT_EQ(result.code, 6) << result.output;
  EXPECT_NE(result.output.find("not finite"), std::string::npos) << result.output;
}

TEST_F(Train, APortInUseIsNamed) {
  const Taken taken = take_port();
  const std::string port = std::to_string(taken.port);
  const Result result = paceline(train("run", {"--transport", "tcp", "--port", port}));
  EXPECT_EQ(result.code, 4) << result.output;
  EXPECT_NE(result.output.find(port), std::string::npos) << result.output;
}

TEST_F(Train, ARunDirectoryIsNotOverwritten) {
  run("run", {"--epochs", "1"});
  const Result again = paceline(train("run", {}));
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.output.find("already has a run"), std::string::npos) << again.output;
}

TEST_F(Train, ResumingNothingIsNamed) {
  const Result result = paceline({"train", "--resume", "/dev/null/none"});
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_NE(result.output.find("/dev/null/none"), std::string::npos) << result.output;
}

TEST_F(Train, ResumingWithOtherStepsIsRefused) {
  run("run", {});
  for (const Arguments& change :
       {Arguments{"--seed", "7"}, {"--batch", "50"}, {"--synthetic-examples", "900"}}) {
    Arguments arguments = {"train", "--resume", path("run").string(), "--epochs", "9", "--quiet"};
    arguments.insert(arguments.end(), change.begin(), change.end());
    const Result result = paceline(arguments);
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_NE(result.output.find("997 examples in batches of 100"), std::string::npos)
        << result.output;
  }
}

TEST_F(Train, ADamagedCheckpointIsNamed) {
  run("run", {});
  for (const auto& entry : std::filesystem::directory_iterator(path("run") / "checkpoints")) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-100, std::ios::end);
    file.write("damage", 6);
  }
  const Result result =
      paceline({"train", "--resume", path("run").string(), "--epochs", "9", "--quiet"});
  EXPECT_EQ(result.code, 3) << result.output;
  EXPECT_NE(result.output.find("checksum"), std::string::npos) << result.output;
}

TEST_F(Train, APathThatTheSystemRefusesIsNamed) {
  const std::string name(300, 'x');
  const Result result = paceline({"inspect", name});
  EXPECT_EQ(result.code, 3) << result.output;
  EXPECT_EQ(result.output, "paceline: cannot use " + name + ": File name too long\n");
}

// The recipe is a file of the user's.
class BadRecipe : public SyntheticRun {
 protected:
  Result train_with(const std::string& text) const {
    std::ofstream(path("own.toml")) << text;
    return paceline({"train", path("own.toml").string(), "--run-dir", path("run").string()});
  }
};

TEST_F(BadRecipe, WithAnUnknownKeyGetsASuggestion) {
  const Result result = train_with("schema = 1\nbatcch = 10\n");
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_NE(result.output.find("batch"), std::string::npos) << result.output;
}

TEST_F(BadRecipe, OfAnotherSchemaIsRefused) {
  const Result result = train_with("schema = 99\n");
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_NE(result.output.find("schema"), std::string::npos) << result.output;
}

TEST_F(BadRecipe, ThatIsNoTomlIsRefusedWithItsLine) {
  const Result result = train_with("schema = 1\nbatch = = 3\n");
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_NE(result.output.find("own.toml"), std::string::npos) << result.output;
}

TEST_F(Train, InspectFailsOnADamagedCheckpointAndOnAWrongRecipe) {
  run("run", {});
  const auto file = *std::filesystem::directory_iterator(path("run") / "checkpoints");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  for (const std::string& target : {path("run").string(), file.path().string()}) {
    const Result result = paceline({"inspect", target});
    EXPECT_EQ(result.code, 3) << result.output;
    EXPECT_NE(result.output.find("truncated"), std::string::npos) << result.output;
  }
  std::ofstream(path("own.toml")) << "schema = 1\ndata = \"synthetic\"\nmomentum = 0.9\n";
  const Result result = paceline({"inspect", path("own.toml").string()});
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_NE(result.output.find("momentum has no effect"), std::string::npos) << result.output;
}

// A small image set of our own in the format of MNIST; each test spoils one file.
class IdxRun : public SyntheticRun {
 protected:
  IdxRun() {
    std::filesystem::create_directories(data_);
    write_gzip(data_ / "train-images-idx3-ubyte.gz", image_bytes(500, 8, 8));
    write_gzip(data_ / "train-labels-idx1-ubyte.gz", label_bytes(500));
    write_gzip(data_ / "t10k-images-idx3-ubyte.gz", image_bytes(100, 8, 8));
    write_gzip(data_ / "t10k-labels-idx1-ubyte.gz", label_bytes(100));
  }
  Result train() const {
    return paceline({"train", "mnist", "--data", "idx", "--data-dir", data_.string(), "--quiet",
                     "--epochs", "2", "--run-dir", path("run").string()});
  }
  void expect_refused(const std::string& file) const {
    const Result result = train();
    EXPECT_EQ(result.code, 3) << result.output;
    EXPECT_NE(result.output.find(file), std::string::npos) << result.output;
  }
  std::filesystem::path data_ = path("data");
};

TEST_F(IdxRun, TrainsAndPredictsWhatEvaluateCounts) {
  const Result trained = train();
  ASSERT_EQ(trained.code, 0) << trained.output;
  const Result predicted = paceline({"predict", path("run").string(), "--input",
                                     (data_ / "t10k-images-idx3-ubyte.gz").string(), "--output",
                                     path("labels").string()});
  ASSERT_EQ(predicted.code, 0) << predicted.output;
  std::ifstream labels(path("labels"));
  int examples = 0;
  int right = 0;
  for (int label = 0; labels >> label; ++examples) right += label == examples % 10 ? 1 : 0;
  EXPECT_EQ(examples, 100);
  EXPECT_DOUBLE_EQ(right / 100.0, summary("run")["test_accuracy"]);
}

TEST_F(IdxRun, ALabelThatIsNoClassIsNamed) {
  std::string labels = label_bytes(500);
  labels.back() = 11;
  write_gzip(data_ / "train-labels-idx1-ubyte.gz", labels);
  expect_refused("train-labels-idx1-ubyte.gz");
}

TEST_F(IdxRun, ATruncatedArchiveIsNamed) {
  const auto file = data_ / "train-images-idx3-ubyte.gz";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  expect_refused(file.filename());
}

TEST_F(IdxRun, AMissingFileIsNamed) {
  std::filesystem::remove(data_ / "t10k-labels-idx1-ubyte.gz");
  expect_refused("t10k-labels-idx1-ubyte");
}

TEST_F(IdxRun, AFileOfSomethingElseIsNamed) {
  write_plain(data_ / "train-images-idx3-ubyte.gz", "this is not an IDX file");
  expect_refused("train-images-idx3-ubyte.gz");
}

TEST_F(IdxRun, LabelsForOtherImagesAreNamed) {
  write_gzip(data_ / "t10k-labels-idx1-ubyte.gz", label_bytes(99));
  expect_refused("t10k-labels-idx1-ubyte.gz");
}

}  // namespace
}  // namespace paceline

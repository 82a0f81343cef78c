// Whole runs on folders of image files.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/random.h"
#include "checkpoint/checkpoint.h"
#include "data/ppm_files.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Dark and bright images of many sizes.
class ImagesRun : public SyntheticRun {
 protected:
  ImagesRun() { write_images(); }
  void write_images() const {
    Random random(1);
    for (int i = 0; i < 300; ++i) {
      const bool bright = i % 2 == 1;
      const auto side = static_cast<std::uint32_t>(9 + random.below(30));
      std::vector<std::uint8_t> rgb(std::size_t{side} * side * 3);
      for (std::uint8_t& value : rgb) {
        value = static_cast<std::uint8_t>((bright ? 130 : 0) + random.below(120));
      }
      write_ppm(file(bright ? "bright" : "dark", i), side, side, rgb);
    }
  }
  std::filesystem::path file(const std::string& name, int number) const {
    return path("images") / name / (std::to_string(number) + ".ppm");
  }
  Arguments images(const std::string& name, const Arguments& more) const {
    // clang-format off
    Arguments arguments = {
        "train", "--run-dir", path(name).string(), "--quiet", "--data", "images",
        "--data-file", path("images").string(), "--test-share", "0.2", "--image-size", "8",
        "--batch", "20", "--epochs", "3", "--rate", "0.1"};
    // clang-format on
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(ImagesRun, LearnsTheSameHoweverItIsCutAndReadAhead) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, Arguments>>{
           {"one", {"--workers", "1"}},
           {"two", {"--workers", "2", "--loader-depth", "2", "--loader-threads", "2"}},
           {"local", {"--exchange", "local", "--workers", "2", "--loader-depth", "1"}}}) {
    Arguments arguments = images(name, more);
    arguments.emplace_back("--augment");
    const Result result = paceline(arguments);
    ASSERT_EQ(result.code, 0) << name << ":\n" << result.output;
    EXPECT_GT(summary(name)["test_accuracy"], 0.95) << name;
    EXPECT_NEAR(summary(name)["train_loss"].get<double>(),
                summary("one")["train_loss"].get<double>(), 1e-5)
        << name;
    EXPECT_FALSE(summary(name).contains("unreadable"));
  }
  const Result labels =
      paceline({"predict", path("two").string(), "--input", file("dark", 0).string()});
  EXPECT_EQ(labels.output, "dark\n");
  EXPECT_EQ(read_text(path("two") / "classes.txt"), "bright\ndark\n");
  const Result tested = paceline({"evaluate", path("two").string(), "--json"});
  EXPECT_EQ(tested.code, 0) << tested.output;
}

// A batch of large images, of which each is the same file.
TEST_F(ImagesRun, ABatchThatTakesLongerThanTheDeadlineIsSlowNotStuck) {
  std::filesystem::remove_all(path("images"));
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kImages = 30;  // sanitizers make each of them longer
#else
  constexpr int kImages = 150;
#endif
  constexpr std::uint32_t kSide = 2000;
  for (const std::string name : {"dark", "bright"}) {
    const auto large = path(name + ".ppm");
    write_plain_ppm(large, kSide, name == "dark" ? 10 : 200, 0, 0);
    std::filesystem::create_directories(path("images") / name);
    for (int i = 0; i < kImages; ++i) std::filesystem::create_symlink(large, file(name, i));
  }
  for (const std::string depth : {"0", "2"}) {
    const Result result =
        paceline(images("run" + depth, {"--workers", "1", "--epochs", "1", "--batch",
                                        std::to_string(kImages * 4 / 3), "--loader-depth", depth,
                                        "--deadline", "1s", "--heartbeat", "50ms"}));
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_GT(summary("run" + depth)["time"][0]["data_seconds"], 1) << "was not slow";
  }
}

class HangingReader : public ImagesRun, public ::testing::WithParamInterface<const char*> {
 protected:
  // Makes all images pipes that nobody writes to, whichever are trained on.
  void stop_up() const {
    for (int i = 0; i < 300; ++i) {
      const auto pipe = path("images") / "pipe";
      ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
      std::filesystem::rename(pipe, file(i % 2 == 1 ? "bright" : "dark", i));
    }
  }
  bool has_saved() const {
    return eventually(60, [&] {
      const auto folder = path("run") / "checkpoints";
      return std::filesystem::exists(folder) && names_in(folder).size() > 1;
    });
  }
};

// A worker that waits for a pipe beats on, but does not get on: it is named, with what it does, and
// so is the next one that meets the pipe. With a depth, it is a thread that reads ahead.
TEST_P(HangingReader, IsNamedAndEnded) {
  PacelineProcess process(
      dir_.path(), images("run", {"--workers", "2", "--epochs", "1000000", "--deadline", "2s",
                                  "--heartbeat", "50ms", "--loader-depth", GetParam(),
                                  "--checkpoint-every", "1", "--deterministic"}));
  const auto workers = process.roles("worker", 2);
  ASSERT_EQ(workers.size(), 2U);
  ASSERT_TRUE(has_saved());
  stop_up();
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(
      process.output(),
      ContainsRegex("worker[01] is lost: no progress for 2.* while reading (ahead )?the data"));
  for (const pid_t worker : workers) EXPECT_FALSE(alive(worker));
  std::filesystem::remove_all(path("images"));
  write_images();
  const std::string epochs =
      std::to_string(CheckpointReader(find_checkpoint(path("run"))).info().epoch + 2);
  const Result resumed = paceline({"train", "--resume", path("run").string(), "--quiet",
                                   "--deadline", "60s", "--epochs", epochs});
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  expect_undisturbed("run", images("whole", {"--exchange", "local", "--workers", "1",
                                             "--deterministic", "--epochs", epochs}));
}
INSTANTIATE_TEST_SUITE_P(Depths, HangingReader, ::testing::Values("0", "2"));

// Whichever is found first; both may hang, and then nobody is left who could save.
TEST_P(HangingReader, OfARingIsNamedAndEnded) {
  PacelineProcess process(dir_.path(),
                          images("run", {"--exchange", "allreduce", "--workers", "2", "--epochs",
                                         "1000000", "--deadline", "2s", "--heartbeat", "50ms",
                                         "--loader-depth", GetParam(), "--checkpoint-every", "1"}));
  const auto workers = process.roles("worker", 2);
  ASSERT_EQ(workers.size(), 2U);
  ASSERT_TRUE(has_saved());
  stop_up();
  EXPECT_EQ(process.wait(), 4) << process.output();
  EXPECT_THAT(
      read_text(path("run") / "logs" / "chief.log"),
      ContainsRegex("worker[01] is lost: no progress for 2.* while reading (ahead )?the data"));
  for (const pid_t worker : workers) EXPECT_FALSE(alive(worker));
}

TEST_F(ImagesRun, AnUnreadableImageIsSkippedCountedAndNamed) {
  write_atomically(file("dark", 2), "this is no image");
  for (const std::string exchange : {"ps", "local", "allreduce"}) {
    const Result result = paceline(images(exchange, {"--exchange", exchange}));
    ASSERT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(summary(exchange)["unreadable"], 1) << exchange;
    EXPECT_EQ(summary(exchange)["unreadable_files"][0], file("dark", 2).string());
    EXPECT_THAT(result.output, AllOf(HasSubstr("unreadable"), HasSubstr("dark/2.ppm")));
    EXPECT_GT(summary(exchange)["test_accuracy"], 0.95);
  }
  EXPECT_NEAR(summary("ps")["train_loss"].get<double>(),
              summary("local")["train_loss"].get<double>(), 1e-5);
}

TEST_F(ImagesRun, AnUnreadableImageLeavesTheSameBitsHoweverItIsCut) {
  write_atomically(file("dark", 2), "this is no image");
  for (const char* workers : {"1", "2"}) {
    const Result result = paceline(images(workers, {"--workers", workers, "--deterministic"}));
    ASSERT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(summary(workers)["unreadable"], 1);
  }
  EXPECT_EQ(parameters("1"), parameters("2"));
}

TEST_F(ImagesRun, TooManyUnreadableImagesEndTheRun) {
  for (int i = 0; i < 40; i += 2) write_atomically(file("dark", i), "this is no image");
  const Result result = paceline(images("run", {}));
  EXPECT_EQ(result.code, 3) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("cannot be decoded"), HasSubstr("more than 1 %")));
}

TEST_F(ImagesRun, WorkersMayFindTooManyTogether) {
  for (const int i : {2, 4, 6, 8}) write_atomically(file("dark", i), "this is no image");
  const Result result = paceline(images("run", {"--epochs", "1", "--workers", "4"}));
  EXPECT_EQ(result.code, 3) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("cannot be decoded"), HasSubstr("more than 1 %")));
  for (int i = 0; i < 4; ++i) {
    const auto log = path("run") / "logs" / ("worker" + std::to_string(i) + ".log");
    EXPECT_THAT(read_text(log), Not(HasSubstr("cannot be decoded"))) << i;
  }
}

TEST_F(ImagesRun, AFolderThatIsNotAsItShouldBeIsNamedBeforeAnythingStarts) {
  std::filesystem::create_directories(path("images") / "grey");
  const Result empty = paceline(images("run", {}));
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.output, HasSubstr("the class 'grey' has no images"));
  EXPECT_FALSE(std::filesystem::exists(path("run")));
  const Result none = paceline({"train", "--data", "images"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.output, HasSubstr("--data-file"));
}

}  // namespace
}  // namespace paceline

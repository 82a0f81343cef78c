// Runs whose disk is full: a small file system of the test's own, in a mount namespace that ends
// with the run.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>

#include "base/text.h"
#include "system/run_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr const char* kTestsInRam = "400000";
#else
constexpr const char* kTestsInRam = "3000000";
#endif

class FullDisk : public LongRun {
 protected:
  FullDisk() { std::filesystem::create_directories(path("small")); }

  // Starts the run in "small/run", on a disk of this size.
  void start(const std::string& size, const Arguments& arguments) {
    const std::string script =
        "mount -t tmpfs -o size=" + size + " tmpfs " + path("small").string() + " && exec \"$@\"";
    process_.emplace(dir_.path(), arguments,
                     std::vector<std::string>{"unshare", "--map-root-user", "--mount", "sh", "-c",
                                              script, "sh"});
  }
  // A path as the run sees it.
  std::filesystem::path inside(const std::string& name) const {
    const std::string root = "/proc/" + std::to_string(process_->pid()) + "/root";
    return root + path("small/" + name).string();
  }
  bool begun() const {
    return eventually(20, [&] {
      std::ifstream in(inside("run/metrics.jsonl"));
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      return text.find("\"epoch\"") != std::string::npos;
    });
  }
  // Until nothing more fits.
  void fill_disk() const {
    std::ofstream ballast(inside("ballast"), std::ios::binary);
    const std::string block(4096, 'x');
    while (ballast.write(block.data(), 4096).flush()) {
    }
  }
  bool says(const std::string& text) const {
    return eventually(20, [&] { return process_->output().find(text) != std::string::npos; });
  }
  // What is needed to go on from the run, of which this is the folder.
  void copy_to(const std::string& name, const std::filesystem::path& run) const {
    std::filesystem::create_directories(path(name));
    std::filesystem::copy(run / "config.toml", path(name) / "config.toml");
    std::filesystem::copy(run / "checkpoints", path(name) / "checkpoints",
                          std::filesystem::copy_options::recursive);
  }
  // A run on threads: when its first epoch is over the disk is full, until it asks for room. Its
  // folder is copied to "left".
  void make_room_late(const Arguments& arguments, int examples);

  std::optional<PacelineProcess> process_;
};

TEST_F(FullDisk, ARunWhoseCheckpointsDoNotFitIsNotBegun) {
  start("128k", SyntheticRun::train("small/run", {"--synthetic-width", "4096"}));
  EXPECT_EQ(process_->wait(), 3) << process_->output();
  EXPECT_THAT(process_->output(), AllOf(HasSubstr("has room for"), HasSubstr("a checkpoint of "
                                                                             "this run takes")));
}

void FullDisk::make_room_late(const Arguments& arguments, int examples) {
  start("8m", arguments);
  ASSERT_TRUE(begun()) << process_->output();
  fill_disk();
  ASSERT_TRUE(says("make room")) << process_->output();
  // Held open, the disk outlives the process.
  const std::filesystem::path run = inside("run");
  const int held = ::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(held, 0);
  std::filesystem::remove(inside("ballast"));
  EXPECT_EQ(process_->wait(), 0) << process_->output();
  const std::filesystem::path left = "/proc/self/fd/" + std::to_string(held);
  EXPECT_EQ(summary_of(left)["status"], "complete");
  EXPECT_EQ(summary_of(left)["examples"], examples);
  for (const std::string& line : split(read_text(left / "metrics.jsonl"), '\n')) {
    EXPECT_TRUE(line.empty() || nlohmann::json::accept(line)) << line;
  }
  copy_to("left", left);
  ::close(held);
}

// What was learned is not lost: it waits for room, and the run goes on to its end.
TEST_F(FullDisk, ALocalRunWaitsForRoomAndGoesOn) {
  ASSERT_NO_FATAL_FAILURE(make_room_late(
      train("small/run", {"--exchange", "local", "--workers", "2", "--deterministic"}), kExamples));
  expect_undisturbed("left");
}

TEST_F(FullDisk, ALocalRunOnRowsWaitsForRoomAndGoesOn) {
  constexpr int kRows = 5000;
  std::string rows;
  for (int i = 0; i < kRows; ++i) {
    rows += fmt::format("{} {}:1 {}:0.5\n", i % 3 == 0 ? 1 : -1, 1 + i % 700, 701 + i * i % 700);
  }
  write_atomically(path("rows.svm"), rows);
  const auto clicks = [&](const std::string& name, const std::string& workers) {
    // clang-format off
    return Arguments{
        "train", "clicks", "--run-dir", path(name).string(), "--quiet",
        "--data-file", path("rows.svm").string(), "--test-file", path("rows.svm").string(),
        "--cache-dir", path("cache").string(), "--bits", "11", "--batch", "100",
        "--epochs", std::to_string(kEpochs), "--checkpoint-every", std::to_string(kSaveEvery),
        "--exchange", "local", "--mode", "sync", "--deterministic", "--workers", workers};
    // clang-format on
  };
  ASSERT_NO_FATAL_FAILURE(make_room_late(clicks("small/run", "2"), kRows * kEpochs));
  SyntheticRun::expect_undisturbed("left", clicks("undisturbed", "1"));
}

TEST_F(FullDisk, AnInterruptGivesUpTheWaiting) {
  start("8m", train("small/run", {"--exchange", "local", "--workers", "2"}));
  ASSERT_TRUE(begun()) << process_->output();
  fill_disk();
  ASSERT_TRUE(says("make room")) << process_->output();
  const std::filesystem::path run = inside("run");
  const int held = ::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(held, 0);
  process_->signal(SIGINT);
  EXPECT_EQ(process_->wait(), 3) << process_->output();
  EXPECT_THAT(process_->output(), HasSubstr("No space left on device"));
  const std::filesystem::path left = "/proc/self/fd/" + std::to_string(held);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(left)) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".partial")));
  }
  ::close(held);
}

// A run that was interrupted saves where it is; whoever does not want to wait for that says so
// again.
TEST_F(FullDisk, ASecondSignalGivesUpWhatTheFirstOneSaves) {
  for (const int second : {SIGTERM, SIGINT}) {
    start("8m",
          train("small/run", {"--exchange", "local", "--workers", "2", "--checkpoint-every", "0"}));
    ASSERT_TRUE(begun()) << process_->output();
    fill_disk();
    process_->signal(SIGINT);
    ASSERT_TRUE(says("make room")) << process_->output();
    process_->signal(second);
    EXPECT_EQ(process_->wait(), 3) << process_->output();
    EXPECT_THAT(process_->output(), HasSubstr("No space left on device"));
  }
}

// Other roles cannot be kept waiting: the run ends, and says why.
TEST_F(FullDisk, ARunOfProcessesEndsAndLeavesNoHalfCheckpoint) {
  start("8m", train("small/run", {"--exchange", "ps", "--workers", "2", "--checkpoint-every", "1",
                                  "--deterministic"}));
  ASSERT_TRUE(eventually(20, [&] {
    const auto folder = inside("run/checkpoints");
    return std::filesystem::exists(folder) && names_in(folder).size() > 1;
  })) << process_->output();
  const std::filesystem::path run = inside("run");
  const int held = ::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(held, 0);
  fill_disk();
  EXPECT_EQ(process_->wait(), 3) << process_->output();
  EXPECT_THAT(process_->output(), HasSubstr("No space left"));
  const std::filesystem::path left = "/proc/self/fd/" + std::to_string(held);
  for (const auto& entry : std::filesystem::directory_iterator(left / "checkpoints")) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr(".partial")));
  }
  copy_to("left", left);
  ::close(held);
  resume("left");
  expect_undisturbed("left");
}

// Its checkpoint is there by then.
TEST_F(FullDisk, ARunOfProcessesNeedsRoomForItsSummary) {
  start("8m", train("small/run", {"--epochs", "2", "--synthetic-test-examples", kTestsInRam,
                                  "--deterministic"}));
  ASSERT_TRUE(eventually(60, [&] {
    return std::filesystem::exists(inside("run/checkpoints/step-0000000020.ckpt"));
  })) << process_->output();
  copy_to("left", inside("run"));
  fill_disk();
  EXPECT_EQ(process_->wait(), 3) << process_->output();
  EXPECT_THAT(process_->output(), HasSubstr("No space left on device"));
  expect_undisturbed("left", {"--epochs", "2"});
}

}  // namespace
}  // namespace paceline

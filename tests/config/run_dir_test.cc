#include "config/run_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "config/testing.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
const auto kThen = std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 30));

// In a folder of its own.
class RunDir : public testing::Test {
 protected:
  RunDir() { fs::current_path(folder_.path()); }
  ~RunDir() override { fs::current_path(before_); }

  fs::path before_ = fs::current_path();
  TestFolder folder_;
};

TEST_F(RunDir, TakesASuffixWhenTheNameIsTaken) {
  const fs::path first = default_run_dir("r", kThen);
  fs::create_directories(first);
  const fs::path second = default_run_dir("r", kThen);
  fs::create_directories(second);
  EXPECT_EQ(second.string(), first.string() + "-2");
  EXPECT_EQ(default_run_dir("r", kThen).string(), first.string() + "-3");
  EXPECT_EQ(ClaimedRunDir("r", kThen).path().string(), first.string() + "-3");
}

TEST_F(RunDir, BelongsToOneOfThoseThatWantItAtOnce) {
  constexpr int kRuns = 16;
  std::vector<std::unique_ptr<ClaimedRunDir>> claimed(kRuns);
  std::vector<std::thread> threads;
  for (auto& one : claimed) {
    threads.emplace_back([&one] { one = std::make_unique<ClaimedRunDir>("r", kThen); });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<fs::path> paths;
  for (const auto& one : claimed) paths.insert(one->path());
  EXPECT_EQ(paths.size(), kRuns);
  EXPECT_TRUE(std::ranges::all_of(paths, [](const fs::path& path) { return fs::exists(path); }));
}

TEST_F(RunDir, StaysOnlyIfSomethingIsInIt) {
  fs::path path;
  {
    const ClaimedRunDir claimed("r", kThen);
    path = claimed.path();
    ASSERT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists("runs"));
  {
    const ClaimedRunDir claimed("r", kThen);
    folder_.write((path / "config.toml").string(), "");
  }
  EXPECT_TRUE(fs::exists(path / "config.toml"));
}

TEST_F(RunDir, ThatCannotBeMadeIsNamed) {
  folder_.write("runs", "not a folder");
  EXPECT_THAT(message_of<DataError>([] { const ClaimedRunDir claimed("r", kThen); }),
              testing::AllOf(testing::HasSubstr("cannot make the run directory runs/r-"),
                             testing::HasSubstr("--run-dir")));
}

}  // namespace
}  // namespace paceline

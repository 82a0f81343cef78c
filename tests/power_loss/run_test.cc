// Run directories: configuration, checkpoints, summary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/paths.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::uint64_t kLast = 12;

class PowerLossOfRuns : public testing::TestWithParam<Words> {
 protected:
  PowerLossOfRuns() { fs::create_directory(disk()); }
  fs::path disk() const { return dir_ / "disk"; }
  // In the place of the disk that was watched, whose paths the run has written down.
  fs::path run() const { return disk() / "runs/one"; }

  Words train(const Words& more) const {
    // clang-format off
    Words words = {program_path(), "train", "synthetic", "--quiet",
                   "--synthetic-examples", "300", "--synthetic-test-examples", "50",
                   "--synthetic-width", "200", "--batch", "100", "--epochs", "4",
                   "--keep-checkpoints", "2"};
    // clang-format on
    words.insert(words.end(), GetParam().begin(), GetParam().end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // The newest version that can be gone on from; 0: there is none.
  std::uint64_t newest() const {
    const auto all = list_checkpoints(run());
    // Nothing is ever half there under its name: not one is skipped.
    for (const fs::path& path : all) EXPECT_NO_THROW(CheckpointReader(path).verify()) << path;
    return all.empty() ? 0 : CheckpointReader(all.back()).info().version;
  }

  static std::vector<float> parameters(const fs::path& checkpoint) {
    const CheckpointReader reader(checkpoint);
    std::vector<float> all(reader.info().layout.size);
    reader.read(0, {0, all.size()}, all);
    return all;
  }

  void expect_whole_files(const std::string& config) const {
    if (fs::exists(run() / "config.toml")) {
      EXPECT_EQ(read_text(run() / "config.toml"), config);
    }
    if (!fs::exists(run() / "summary.json")) return;
    const auto summary = nlohmann::json::parse(read_text(run() / "summary.json"), nullptr, false);
    EXPECT_TRUE(summary.is_object());
  }

  // What was synced by then is what any later crash leaves at least.
  std::uint64_t synced_version(const DiskLog& log, std::size_t events) {
    if (const auto known = synced_.find(events); known != synced_.end()) return known->second;
    fs::remove_all(disk());
    restore(log, {events, 0}, disk());
    return synced_[events] = newest();
  }

  DiskLog go_on() const {
    return record(dir_ / "elsewhere", Words{program_path(), "train", "--quiet", "--resume", run()});
  }

  TempDir dir_;
  std::map<std::size_t, std::uint64_t> synced_;
};

TEST_P(PowerLossOfRuns, LeavesWholeCheckpointsAndNeverGoesBack) {
  const DiskLog log = record(disk(), train({"--run-dir", run()}));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::string config = read_text(run() / "config.toml");
  after_crashes(log, 150, disk(), [&](const Crash& crash) {
    expect_whole_files(config);
    const std::uint64_t found = newest();
    if (is_at_end(log, crash)) {
      EXPECT_EQ(found, kLast);
      EXPECT_TRUE(fs::exists(run() / "summary.json"));
      EXPECT_TRUE(fs::exists(run() / "config.toml"));
    }
    EXPECT_GE(found, synced_version(log, crash.events));
  });
}

// After any crash a run goes on to the end that it would have had, or says what to do.
TEST_P(PowerLossOfRuns, GoesOnAfterwards) {
  fs::create_directory(dir_ / "elsewhere");
  const DiskLog log = record(disk(), train({"--run-dir", run(), "--deterministic"}));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::vector<float> whole = parameters(list_checkpoints(run()).back());
  int resumed = 0;
  after_crashes(log, 60, disk(), [&](const Crash&) {
    const std::uint64_t found = newest();
    const DiskLog next = go_on();
    if (found == 0) {
      EXPECT_THAT(next.output, AnyOf(HasSubstr("has no checkpoint that can be read"),
                                     HasSubstr("not a run directory")));
      return;
    }
    if (found == kLast) {
      EXPECT_THAT(next.output, HasSubstr("has been trained for 4 epoch(s) already"));
    } else {
      EXPECT_EQ(next.exit_code, 0) << next.output;
      ++resumed;
    }
    EXPECT_EQ(parameters(list_checkpoints(run()).back()), whole);
  });
  EXPECT_GT(resumed, 5);
}

INSTANTIATE_TEST_SUITE_P(Exchanges, PowerLossOfRuns,
                         testing::Values(Words{"--exchange", "local"}, Words{"--exchange", "ps"}),
                         [](const auto& exchange) { return exchange.param[1]; });

}  // namespace
}  // namespace paceline

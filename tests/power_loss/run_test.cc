// Run directories: configuration, checkpoints, summary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file/file.h"
#include "base/paths.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"
#include "observe/metrics_file.h"
#include "observe/summary_file.h"
#include "power_loss/many_crashes.h"
#include "power_loss/recorder.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsSupersetOf;
using Words = std::vector<std::string>;

constexpr std::uint64_t kEpochs = 4;
constexpr std::uint64_t kLast = 12;  // version
constexpr std::uint64_t kResumed = 40;
constexpr std::uint64_t kCrashesTwice = 24;

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

  // What a run that was not interrupted has written down.
  struct Written {
    std::string config;
    std::string summary;
    std::vector<nlohmann::json> epochs;
  };
  Written written() const {
    return {read_text(run() / "config.toml"), read_text(run() / "summary.json"),
            read_epochs(run() / "metrics.jsonl", kLast)};
  }

  // Files that are there under their names are whole. Of the metrics lines may be missing, or cut
  // off, but none says anything else.
  void expect_whole_files(const Written& whole) const {
    if (fs::exists(run() / "config.toml")) {
      EXPECT_EQ(read_text(run() / "config.toml"), whole.config);
    }
    if (fs::exists(run() / "summary.json")) {
      EXPECT_EQ(read_text(run() / "summary.json"), whole.summary);
    }
    EXPECT_THAT(whole.epochs, IsSupersetOf(read_epochs(run() / "metrics.jsonl", kLast)));
  }

  // Every epoch once, whatever of the metrics was lost; those that were trained anew among them.
  void expect_summary_of_all(std::uint64_t trained_before) const {
    const nlohmann::json summary = read_summary(run());
    EXPECT_EQ(summary.at("status"), "complete");
    std::set<std::uint64_t> epochs;
    for (const auto& result : summary.at("epoch_results")) {
      EXPECT_TRUE(epochs.insert(result.at("epoch").get<std::uint64_t>()).second) << summary;
    }
    for (std::uint64_t epoch = trained_before + 1; epoch <= kEpochs; ++epoch) {
      EXPECT_TRUE(epochs.contains(epoch)) << epoch << summary;
    }
    EXPECT_EQ(*epochs.rbegin(), kEpochs);
  }

  // What was synced by then is what any later crash leaves at least.
  std::uint64_t synced_version(const DiskLog& log, std::size_t events) {
    if (const auto known = synced_.find(events); known != synced_.end()) return known->second;
    fs::remove_all(disk());
    restore(log, {events, 0}, disk());
    return synced_[events] = newest();
  }

  Words resume() const { return {program_path(), "train", "--quiet", "--resume", run()}; }
  DiskLog go_on() const { return record(dir_ / "elsewhere", resume()); }

  TempDir dir_;
  std::map<std::size_t, std::uint64_t> synced_;
};

TEST_P(PowerLossOfRuns, LeavesWholeCheckpointsAndNeverGoesBack) {
  const DiskLog log = record(disk(), train({"--run-dir", run()}));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const Written whole = written();
  ASSERT_EQ(whole.epochs.size(), kEpochs);
  after_crashes(log, 150, disk(), [&](const Crash& crash) {
    expect_whole_files(whole);
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
  const DiskLog log = record(disk(), train({"--run-dir", run()}));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::vector<float> whole = parameters(list_checkpoints(run()).back());
  std::uint64_t resumed = 0;
  after_crashes(log, kResumed, disk(), [&](const Crash&) {
    const std::uint64_t found = newest();
    // As a run leaves it whose frozen layers have features: torn, and of no use to the next.
    if (fs::exists(run())) std::ofstream(run() / "features-train") << std::string(5000, '\1');
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
      EXPECT_FALSE(fs::exists(run() / "features-train"));
      expect_summary_of_all(found / (kLast / kEpochs));
      ++resumed;
    }
    EXPECT_EQ(parameters(list_checkpoints(run()).back()), whole);
  });
  EXPECT_GT(resumed, seeds(kResumed).share_of(6));
}

// The power fails again while a run goes on after it has failed before.
TEST_P(PowerLossOfRuns, GoesOnAfterASecondOne) {
  fs::create_directory(dir_ / "elsewhere");
  const DiskLog log = record(disk(), train({"--run-dir", run()}));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const std::vector<float> whole = parameters(list_checkpoints(run()).back());
  std::uint64_t twice = 0;
  after_crashes(log, kCrashesTwice, disk(), [&](const Crash& crash) {
    const std::uint64_t first = newest();
    if (first == 0 || first == kLast) return;
    const DiskLog second = record(disk(), resume());
    ASSERT_EQ(second.exit_code, 0) << second.output;
    const Crash again{Random(crash.seed).below(second.events.size() / 2), crash.seed};
    fs::remove_all(disk());
    restore(second, again, disk());
    const std::uint64_t found = newest();
    EXPECT_GE(found, first);  // what was there to go on from is kept until there is more
    if (found < kLast) {
      const DiskLog last = go_on();
      EXPECT_EQ(last.exit_code, 0) << last.output;
      ++twice;
    }
    EXPECT_EQ(parameters(list_checkpoints(run()).back()), whole);
  });
  EXPECT_GT(twice, 0U);
}

// What a run starts from is there before anything that was learned from it.
TEST_P(PowerLossOfRuns, KeepsWhatItStartedFrom) {
  fs::create_directory(dir_ / "elsewhere");
  fs::create_directory(dir_ / "runs");
  const DiskLog before = record(dir_ / "runs", train({"--run-dir", dir_ / "runs/before"}));
  ASSERT_EQ(before.exit_code, 0) << before.output;
  const DiskLog log = record(disk(), train({"--run-dir", run(), "--init", dir_ / "runs/before"}));
  ASSERT_EQ(log.exit_code, 0) << log.output;
  const fs::path start = run() / "checkpoints/start.ckpt";
  const std::string whole = read_text(start);
  after_crashes(log, 60, disk(), [&](const Crash&) {
    if (fs::exists(start)) {
      EXPECT_TRUE(read_text(start) == whole);
    } else {
      EXPECT_EQ(newest(), 0U);
    }
  });
}

// Each comes to the same bits every time: a ring of two adds two numbers, in whichever order.
INSTANTIATE_TEST_SUITE_P(Exchanges, PowerLossOfRuns,
                         testing::Values(Words{"--exchange", "local", "--deterministic"},
                                         Words{"--exchange", "ps", "--deterministic"},
                                         Words{"--exchange", "allreduce", "--workers", "2"}),
                         [](const auto& exchange) { return exchange.param[1]; });

}  // namespace
}  // namespace paceline

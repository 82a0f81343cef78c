#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <sstream>

#include "base/log.h"
#include "base/temp_dir.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/sample.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void write_sample(const fs::path& run_dir, std::uint64_t version) {
  write_checkpoint(checkpoint_path(run_dir, version), sample_info(100, 1), sample_fill);
}

void flip_byte(const fs::path& path, std::size_t from_the_end) {
  std::string bytes = bytes_of(path);
  bytes[bytes.size() - from_the_end] ^= 1;
  write_bytes(path, bytes);
}

std::vector<std::string> listed(const fs::path& run_dir) {
  std::vector<std::string> names;
  for (const fs::path& path : list_checkpoints(run_dir)) names.push_back(path.filename());
  return names;
}

// What the log says while this lives.
class CapturedLog {
 public:
  CapturedLog() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
  }
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::string text() const { return text_.str(); }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

TEST(CheckpointPath, HasTenDigitsOrMore) {
  EXPECT_EQ(checkpoint_path("run", 1200), "run/checkpoints/step-0000001200.ckpt");
  EXPECT_EQ(checkpoint_path("run", 123'456'789'012), "run/checkpoints/step-123456789012.ckpt");
}

TEST(ListCheckpoints, IsByVersionAndIgnoresOtherNames) {
  const TempDir dir;
  for (const std::uint64_t version : {20'000'000'000, 1'200L, 9'999'999'999}) {
    write_sample(dir.path(), version);
  }
  for (const char* name : {"step-7.ckpt", "step-00000001200.ckpt", "step-000000120x.ckpt", "step-",
                           "step-0000000007.ckpt.partial", "s", "step-99999999999999999999.ckpt"}) {
    write_bytes(dir.path() / "checkpoints" / name, "");
  }
  EXPECT_THAT(listed(dir.path()),
              ElementsAre("step-0000001200.ckpt", "step-9999999999.ckpt", "step-20000000000.ckpt"));
}

TEST(ListCheckpoints, OfARunWithoutAnyIsEmpty) {
  const TempDir dir;
  EXPECT_THAT(list_checkpoints(dir.path()), IsEmpty());
  EXPECT_THAT(list_checkpoints(dir / "missing"), IsEmpty());
}

TEST(ListCheckpoints, ThatCannotBeReadIsAnError) {
  const TempDir dir;
  write_bytes(dir / "checkpoints", "a file");
  EXPECT_THAT(data_error_of([&] { list_checkpoints(dir.path()); }),
              HasSubstr((dir / "checkpoints").string()));
}

TEST(FindCheckpoint, TakesTheNewestOfARun) {
  const TempDir dir;
  for (const std::uint64_t version : {100, 300, 200}) write_sample(dir.path(), version);
  EXPECT_EQ(find_checkpoint(dir.path()), checkpoint_path(dir.path(), 300));
}

TEST(FindCheckpoint, SkipsDamagedOnesWithAWarning) {
  const TempDir dir;
  for (const std::uint64_t version : {100, 200, 300, 400}) write_sample(dir.path(), version);
  const fs::path truncated = checkpoint_path(dir.path(), 400);
  fs::resize_file(truncated, fs::file_size(truncated) / 2);
  flip_byte(checkpoint_path(dir.path(), 300), 100);  // only reading the numbers shows it
  const CapturedLog log;
  EXPECT_EQ(find_checkpoint(dir.path()), checkpoint_path(dir.path(), 200));
  EXPECT_THAT(log.text(), AllOf(HasSubstr(truncated.string()), HasSubstr("truncated"),
                                HasSubstr(checkpoint_path(dir.path(), 300).string())));
}

TEST(FindCheckpoint, TakesAFileAsItIs) {
  const TempDir dir;
  for (const std::uint64_t version : {100, 200}) write_sample(dir.path(), version);
  const fs::path older = checkpoint_path(dir.path(), 100);
  EXPECT_EQ(find_checkpoint(older), older);
  flip_byte(older, 100);
  EXPECT_THAT(data_error_of([&] { find_checkpoint(older); }), HasSubstr(older.string()));
}

TEST(FindCheckpoint, WithoutAnyThatCanBeReadNamesTheRunAndTheReasons) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { find_checkpoint(dir / "missing"); }),
              HasSubstr((dir / "missing").string()));
  EXPECT_EQ(data_error_of([&] { find_checkpoint(dir.path()); }),
            dir.path().string() + " is neither a run directory nor a checkpoint");
  write_bytes(dir.path() / "config.toml", "");
  EXPECT_THAT(data_error_of([&] { find_checkpoint(dir.path()); }),
              AllOf(HasSubstr(dir.path().string()), HasSubstr("none has been saved yet")));
  write_sample(dir.path(), 100);
  flip_byte(checkpoint_path(dir.path(), 100), 1);
  const CapturedLog log;
  EXPECT_THAT(data_error_of([&] { find_checkpoint(dir.path()); }),
              AllOf(HasSubstr("no checkpoint that can be read"),
                    HasSubstr("step-0000000100.ckpt is damaged")));
}

TEST(PruneCheckpoints, KeepsTheNewest) {
  const TempDir dir;
  for (std::uint64_t version = 1; version <= 5; ++version) write_sample(dir.path(), version);
  write_bytes(dir.path() / "checkpoints" / "notes.txt", "kept");
  prune_checkpoints(dir.path(), 0);
  EXPECT_EQ(listed(dir.path()).size(), 5u);
  prune_checkpoints(dir.path(), 5);
  EXPECT_EQ(listed(dir.path()).size(), 5u);
  prune_checkpoints(dir.path(), 2);
  EXPECT_THAT(listed(dir.path()), ElementsAre("step-0000000004.ckpt", "step-0000000005.ckpt"));
  EXPECT_TRUE(fs::exists(dir.path() / "checkpoints" / "notes.txt"));
}

}  // namespace
}  // namespace paceline

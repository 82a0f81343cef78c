#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <stdexcept>
#include <thread>

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

constexpr std::uint64_t kBlockFloats = CheckpointSections().block_floats;

// No file of this process may grow beyond a length while this lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

TEST(WriteCheckpoint, AsksForEveryFloatOnceAndInOrder) {
  const TempDir dir;
  for (const std::uint64_t size :
       {std::uint64_t{1}, kBlockFloats / 3, kBlockFloats, 2 * kBlockFloats + 5}) {
    const CheckpointInfo info = sample_info(size, 2);
    std::uint64_t next = 0;
    write_checkpoint(dir / "file", info,
                     [&](std::uint64_t vector, Range floats, std::span<float> out) {
                       EXPECT_EQ(vector * size + floats.begin, next);
                       EXPECT_LE(floats.end, size);
                       EXPECT_EQ(out.size(), floats.size());
                       next += floats.size();
                       sample_fill(vector, floats, out);
                     });
    EXPECT_EQ(next, 3 * size);
  }
}

TEST(WriteCheckpoint, MakesItsFolder) {
  const TempDir dir;
  const fs::path path = checkpoint_path(dir / "run", 3);
  write_checkpoint(path, sample_info(5, 0), sample_fill);
  EXPECT_THAT(names_in(path.parent_path()), ElementsAre("step-0000000003.ckpt"));
}

TEST(WriteCheckpoint, LeavesNothingWhenTheNumbersCannotBeHad) {
  const TempDir dir;
  const auto fail_late = [](std::uint64_t vector, Range floats, std::span<float> out) {
    if (vector == 1) throw std::runtime_error("the server is gone");
    sample_fill(vector, floats, out);
  };
  EXPECT_THROW(write_checkpoint(dir / "file", sample_info(2 * kBlockFloats, 1), fail_late),
               std::runtime_error);
  EXPECT_THAT(names_in(dir.path()), IsEmpty());

  write_checkpoint(dir / "file", sample_info(3, 0), sample_fill);
  const std::string before = bytes_of(dir / "file");
  EXPECT_THROW(write_checkpoint(dir / "file", sample_info(2 * kBlockFloats, 1), fail_late),
               std::runtime_error);
  EXPECT_THAT(names_in(dir.path()), ElementsAre("file"));
  EXPECT_EQ(bytes_of(dir / "file"), before);
}

TEST(WriteCheckpoint, IsNotThereUnderItsNameWhileItIsWritten) {
  const TempDir dir;
  write_checkpoint(dir / "file", sample_info(3, 0),
                   [&](std::uint64_t vector, Range floats, std::span<float> out) {
                     EXPECT_FALSE(fs::exists(dir / "file"));
                     sample_fill(vector, floats, out);
                   });
  EXPECT_TRUE(fs::exists(dir / "file"));
}

TEST(WriteCheckpoint, ReplacesAnotherOfItsName) {
  const TempDir dir;
  write_checkpoint(dir / "file", sample_info(kBlockFloats, 1), sample_fill);
  write_checkpoint(dir / "file", sample_info(7, 0), sample_fill);
  EXPECT_EQ(CheckpointReader(dir / "file").info().layout.size, 7u);
}

TEST(WriteCheckpoint, ThatGrowsTooLargeSaysSoAndLeavesTheOldOne) {
  const TempDir dir;
  write_checkpoint(dir / "file", sample_info(3, 0), sample_fill);
  const std::string before = bytes_of(dir / "file");
  // In the head, in the first block, in a later one, in the table.
  const rlim_t whole = 3 * kBlockFloats * sizeof(float) + bytes_of(dir / "file").size();
  for (const rlim_t limit : {rlim_t{100}, rlim_t{5000}, rlim_t{2'500'000}, whole - 30}) {
    std::string message;
    {
      const FileSizeLimit limited(limit);
      message = data_error_of(
          [&] { write_checkpoint(dir / "file", sample_info(3 * kBlockFloats, 0), sample_fill); });
    }
    EXPECT_THAT(message, AllOf(HasSubstr("cannot write"), HasSubstr((dir / "file").string()),
                               HasSubstr("File too large")))
        << limit;
    EXPECT_THAT(names_in(dir.path()), ElementsAre("file"));
    EXPECT_EQ(bytes_of(dir / "file"), before);
  }
}

TEST(WriteCheckpoint, OnAFullDiskSaysSoAndLeavesNothing) {
  const TempDir dir;
  fs::create_symlink("/dev/full", dir / "file.partial");
  EXPECT_THAT(
      data_error_of([&] { write_checkpoint(dir / "file", sample_info(3, 0), sample_fill); }),
      AllOf(HasSubstr("cannot write"), HasSubstr((dir / "file").string()),
            HasSubstr("No space left on device")));
  EXPECT_THAT(names_in(dir.path()), IsEmpty());
}

TEST(WriteCheckpoint, InAFolderThatCannotBeMadeNamesIt) {
  const TempDir dir;
  write_bytes(dir / "run", "a file");
  EXPECT_THAT(data_error_of([&] {
                write_checkpoint(checkpoint_path(dir / "run", 3), sample_info(3, 0), sample_fill);
              }),
              AllOf(HasSubstr("cannot create"), HasSubstr((dir / "run").string())));
}

TEST(WriteCheckpoint, RemovesWhatWritersThatDiedLeft) {
  const TempDir dir;
  write_bytes(dir / "step-0000000001.ckpt.partial", "half");
  write_bytes(dir / "step-0000000002.ckpt.partial", "half");
  write_bytes(dir / "notes.partial", "somebody's own");
  write_checkpoint(dir / "step-0000000002.ckpt", sample_info(3, 0), sample_fill);
  EXPECT_THAT(names_in(dir.path()),
              testing::UnorderedElementsAre("step-0000000002.ckpt", "notes.partial"));
}

TEST(WriteCheckpoint, DoesNotDisturbAWriterInTheSameFolder) {
  const TempDir dir;
  const auto write_many = [&](std::uint64_t first) {
    for (std::uint64_t i = 0; i < 10; ++i) {
      write_checkpoint(checkpoint_path(dir.path(), first + i), sample_info(1000, 1), sample_fill);
    }
  };
  std::thread other(write_many, 0);
  write_many(5);  // some names are the other's as well
  other.join();
  EXPECT_EQ(list_checkpoints(dir.path()).size(), 15u);
  for (const fs::path& path : list_checkpoints(dir.path())) CheckpointReader(path).verify();
}

}  // namespace
}  // namespace paceline

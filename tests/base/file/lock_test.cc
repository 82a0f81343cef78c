#include "base/file/lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::HasSubstr;

TEST(FileLock, KeepsOthersOffWhileItLives) {
  const TempDir dir;
  for (const auto& path : {dir / "file", dir.path()}) {
    {
      const auto first = FileLock::try_lock(path);
      ASSERT_TRUE(first && first->held()) << path;
      EXPECT_FALSE(FileLock::try_lock(path)) << path;
    }
    EXPECT_TRUE(FileLock::try_lock(path)) << path;
  }
}

TEST(FileLock, IsWaitedFor) {
  const TempDir dir;
  std::atomic<bool> released = false;
  auto first = FileLock::try_lock(dir / "file");
  std::thread other([&] {
    const FileLock second = FileLock::wait(dir / "file");
    EXPECT_TRUE(second.held());
    EXPECT_TRUE(released);
  });
  released = true;
  first.reset();
  other.join();
}

TEST(FileLock, IsSharedByReaders) {
  const TempDir dir;
  EXPECT_FALSE(FileLock::try_shared(dir / "file"));  // no such file
  write_atomically(dir / "file", "x");
  {
    const auto first = FileLock::try_shared(dir / "file");
    EXPECT_TRUE(first);
    EXPECT_TRUE(FileLock::try_shared(dir / "file"));
    EXPECT_FALSE(FileLock::try_lock(dir / "file"));
  }
  const auto writer = FileLock::try_lock(dir / "file");
  EXPECT_FALSE(FileLock::try_shared(dir / "file"));
}

TEST(FileLock, OfAFileThatIsOpenLastsAsLongAsThat) {
  const TempDir dir;
  const int file = ::open(dir.file("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  FileLock::lock_open_file(file);
  EXPECT_FALSE(FileLock::try_shared(dir / "file"));
  ::close(file);
  EXPECT_TRUE(FileLock::try_shared(dir / "file"));
}

TEST(FileLock, KnowsWhetherTheFileIsStillThere) {
  const TempDir dir;
  const auto lock = FileLock::try_lock(dir / "file");
  EXPECT_TRUE(lock->is_of(dir / "file"));
  std::filesystem::remove(dir / "file");
  EXPECT_FALSE(lock->is_of(dir / "file"));
  write_atomically(dir / "file", "another");
  EXPECT_FALSE(lock->is_of(dir / "file"));
}

TEST(FileLock, NamesAFileThatCannotBeMade) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { FileLock::wait(dir / "missing" / "file"); }),
              HasSubstr(dir.file("missing/file")));
}

}  // namespace
}  // namespace paceline

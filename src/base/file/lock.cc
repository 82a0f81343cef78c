#include "base/file/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

enum class Outcome { kHeld, kTaken, kImpossible };

Outcome lock(int file, int how) {
  while (::flock(file, how) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? Outcome::kTaken : Outcome::kImpossible;
  }
  return Outcome::kHeld;
}

// Network file systems lock only what is open for writing, which a folder cannot be.
int open_or_make(const fs::path& path) {
  std::error_code none;
  const bool is_folder = fs::is_directory(path, none);
  const int file = is_folder ? ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                             : ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) throw DataError("cannot lock {}: {}", path.string(), errno_text(errno));
  return file;
}

}  // namespace

FileLock FileLock::wait(const fs::path& path) {
  const int file = open_or_make(path);
  return {file, lock(file, LOCK_EX) == Outcome::kHeld};
}

std::optional<FileLock> FileLock::try_lock(const fs::path& path) {
  const int file = open_or_make(path);
  const Outcome outcome = lock(file, LOCK_EX | LOCK_NB);
  FileLock made(file, outcome == Outcome::kHeld);
  if (outcome == Outcome::kTaken) return std::nullopt;
  return made;
}

std::optional<FileLock> FileLock::try_shared(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  FileLock made(file, lock(file, LOCK_SH | LOCK_NB) == Outcome::kHeld);
  if (!made.held()) return std::nullopt;
  return made;
}

void FileLock::lock_open_file(int file) {
  for (int tries = 0; tries < 10 && lock(file, LOCK_EX | LOCK_NB) == Outcome::kTaken; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

bool FileLock::is_of(const fs::path& path) const {
  struct stat mine {};
  struct stat there {};
  return ::fstat(file_, &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

}  // namespace paceline

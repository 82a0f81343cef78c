// A lock on a file or a folder, against other processes and other objects of this one. It lasts
// until the object goes; the system lets go for a process that dies.
//
// Some file systems have no locks. There everybody gets one that is not held(), and nobody is kept
// off.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace paceline {

class FileLock {
 public:
  // A folder must be there; a file is made if it is missing. Throws DataError when that fails.
  static FileLock wait(const std::filesystem::path& path);  // until whoever has it lets go
  static std::optional<FileLock> try_lock(const std::filesystem::path& path);  // nothing: taken

  // One of several readers of a file that is there. Nothing: a writer has the lock, or there is no
  // such file.
  static std::optional<FileLock> try_shared(const std::filesystem::path& path);

  // Locks a file that its only writer has opened, and which stays the writer's to close. A reader
  // may have it for a moment.
  static void lock_open_file(int file);

  ~FileLock();
  FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)), held_(other.held_) {}
  FileLock& operator=(FileLock&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(held_, other.held_);
    return *this;
  }

  bool held() const { return held_; }
  // Whoever had the lock before may have removed the file at its end. Then a lock on it keeps off
  // nobody who opens `path`.
  bool is_of(const std::filesystem::path& path) const;

 private:
  FileLock(int file, bool held) : file_(file), held_(held) {}

  int file_;
  bool held_;
};

}  // namespace paceline

// Files whole: read, or replaced atomically. Every failure is a DataError that names the
// file and the system's reason; a full disk is a DiskFull.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace paceline {

std::string read_text(const std::filesystem::path& path);

// A descriptor of a regular file, for reading; the caller closes it. Anything else is refused with
// a sentence: a pipe would be waited for without a word, until someone fills it.
int open_regular_file(const std::filesystem::path& path);

// What a write to `path` ends in: through symbolic links the file that they lead to.
std::filesystem::path behind_links(const std::filesystem::path& path);

// Makes a folder and those above it that are missing. What is made stays there when the power
// fails, as does then what is brought to the disk in it.
void create_folders(const std::filesystem::path& folder);

// Brings a complete file to the disk and under its name, in the place of what is there.
void move_into_place(const std::filesystem::path& complete, const std::filesystem::path& path);

// A file that appears under its name only when it is complete: bytes go to a sibling
// "NAME.partial", commit() syncs and renames it. Without commit() nothing remains; a process that
// is killed leaves the sibling, on which only a writer that lives holds a FileLock. Through
// a symbolic link its target is replaced; what is no regular file (a device, a pipe) is
// written to as it is.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  // Waits until what was written before the last call is on the disk, and begins with the rest. So
  // commit() is short on a slow disk, and a large file is seen to grow.
  void settle();
  // What can be made again, and has checksums, need not be on the disk before it is used.
  enum class Durable { kNow, kLater };
  void commit(Durable durable = Durable::kNow);

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  int file_ = -1;
  bool in_place_ = false;
  std::uint64_t written_ = 0;
  std::uint64_t settling_ = 0;  // bytes that were written at the last settle()
};

void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace paceline

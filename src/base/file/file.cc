#include "base/file/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file/lock.h"

namespace paceline {

namespace fs = std::filesystem;

namespace {

// A name survives a power cut only when its folder is on the disk as well. Some file
// systems cannot sync a folder; the file is complete there all the same.
void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

// A full disk has no room for a name either.
[[noreturn]] void fail_to_create(const fs::path& path, int error) {
  if (error == ENOSPC || error == EDQUOT) throw_unwritable(path.string(), error);
  throw DataError("cannot create {}: {}", path.string(), errno_text(error));
}

}  // namespace

std::string read_text(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  ssize_t got = file < 0 ? -1 : 1;
  while (got > 0) {
    std::array<char, 16384> block;
    got = ::read(file, block.data(), block.size());
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno == EINTR) got = 1;
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (got < 0) throw DataError("cannot read {}: {}", path.string(), errno_text(error));
  return text;
}

// Without waiting for somebody at the other end.
int open_regular_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw DataError("cannot read {}: {}", path.string(), errno_text(errno));
  struct stat status {};
  const int error = ::fstat(file, &status) != 0 ? errno : 0;
  if (error == 0 && S_ISREG(status.st_mode)) return file;
  ::close(file);
  if (error != 0) throw DataError("cannot read {}: {}", path.string(), errno_text(error));
  if (S_ISDIR(status.st_mode)) throw DataError("cannot read {}: it is a folder", path.string());
  throw DataError("cannot read {}: it is not a regular file. Write it to one first", path.string());
}

fs::path behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as for the kernel
  fs::path target = path;
  std::error_code none;
  for (int i = 0; i < kMostLinks && fs::is_symlink(target, none); ++i) {
    target = target.parent_path() / fs::read_symlink(target, none);
  }
  return target;
}

void create_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return;
  create_folders(folder.parent_path());
  fs::create_directory(folder, error);
  if (error) throw DataError("cannot create {}: {}", folder.string(), error.message());
  sync_folder_of(folder);
}

void move_into_place(const fs::path& complete, const fs::path& path) {
  const int file = ::open(complete.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done =
      file >= 0 && ::fsync(file) == 0 && ::rename(complete.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!done) throw_unwritable(path.string(), error);
  sync_folder_of(path);
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  path_ = behind_links(path_);
  std::error_code none;
  const fs::file_status status = fs::status(path_, none);
  in_place_ = fs::exists(status) && !fs::is_regular_file(status);
  partial_ = path_;
  if (!in_place_) partial_ += ".partial";
  file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) fail_to_create(path_, errno);
  // For whoever wonders whether it was left by a process that is gone.
  if (!in_place_) FileLock::lock_open_file(file_);
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) {
    ::close(file_);
    if (!in_place_) ::unlink(partial_.c_str());
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_unwritable(path_.string(), errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    written_ += static_cast<std::uint64_t>(written);
  }
}

// Where the system cannot do so, commit() does it all.
void AtomicFile::settle() {
  constexpr std::uint64_t kWorthIt = std::uint64_t{16} << 20;
  if (written_ - settling_ < kWorthIt) return;
  const auto before = static_cast<off64_t>(settling_);
  if (before > 0) ::sync_file_range(file_, 0, before, SYNC_FILE_RANGE_WAIT_BEFORE);
  ::sync_file_range(file_, before, static_cast<off64_t>(written_ - settling_),
                    SYNC_FILE_RANGE_WRITE);
  settling_ = written_;
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void AtomicFile::commit(Durable durable) {
  if (in_place_) {
    if (::close(std::exchange(file_, -1)) != 0) throw_unwritable(path_.string(), errno);
    return;
  }
  if (durable == Durable::kNow && ::fsync(file_) != 0) throw_unwritable(path_.string(), errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(partial_.c_str());
    throw_unwritable(path_.string(), error);
  }
  if (durable == Durable::kNow) sync_folder_of(path_);
}

void write_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace paceline

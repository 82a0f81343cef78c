#include "base/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace paceline {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf() || in.peek() == std::ifstream::traits_type::eof())) {
    throw DataError("cannot read {}: {}", path.string(), errno_text(errno));
  }
  return std::move(text).str();
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), partial_(path_) {
  partial_ += ".partial";
  file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) fail("create", errno);
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) {
    ::close(file_);
    ::unlink(partial_.c_str());
  }
}

void AtomicFile::fail(const char* verb, int error) {
  throw DataError("cannot {} {}: {}", verb, path_.string(), errno_text(error));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0) fail("write", errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(partial_.c_str());
    fail("write", error);
  }
}

void write_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace paceline

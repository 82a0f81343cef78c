#include "base/file/random_access_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"

namespace paceline {

RandomAccessFile::RandomAccessFile(std::filesystem::path path) : path_(std::move(path)) {
  file_ = open_regular_file(path_);
  struct stat status {};
  if (::fstat(file_, &status) != 0) {
    ::close(file_);
    throw DataError("cannot read {}: {}", path_.string(), errno_text(errno));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

RandomAccessFile::~RandomAccessFile() {
  ::close(file_);
}

void RandomAccessFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError("cannot read {}: {}", path_.string(), errno_text(errno));
    if (got == 0) throw DataError("{} ends after {} bytes", path_.string(), offset);
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace paceline

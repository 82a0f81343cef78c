#include "base/file/random_access_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "base/file/read_at.h"

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
  const auto got = read_at(file_, offset, out);
  if (!got) throw DataError("cannot read {}: {}", path_.string(), errno_text(errno));
  if (*got < out.size()) throw DataError("{} ends after {} bytes", path_.string(), offset + *got);
}

}  // namespace paceline

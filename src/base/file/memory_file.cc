#include "base/file/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/file/read_at.h"

namespace paceline {

MemoryFile::MemoryFile(const char* name, std::string_view content)
    : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw ResourceError("memfd_create: {}", errno_text(errno));
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(descriptor_);
      throw ResourceError("cannot keep {} bytes in memory: {}", content.size(), errno_text(error));
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::string content_of(int descriptor, std::size_t most) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    throw DataError("descriptor {} cannot be read: {}", descriptor, errno_text(errno));
  }
  std::string text(std::min(static_cast<std::size_t>(status.st_size), most), '\0');
  const auto got = read_at(descriptor, 0, std::as_writable_bytes(std::span(text)));
  if (!got) throw DataError("descriptor {} cannot be read: {}", descriptor, errno_text(errno));
  text.resize(*got);
  return text;
}

}  // namespace paceline

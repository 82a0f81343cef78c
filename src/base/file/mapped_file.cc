#include "base/file/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file/file.h"

namespace paceline {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = open_regular_file(path);
  struct stat status {};
  int error = ::fstat(file, &status) != 0 ? errno : 0;
  if (error == 0 && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) {
      error = errno;
    } else {
      data_ = static_cast<const std::byte*>(memory);
    }
  }
  ::close(file);
  if (error != 0) throw DataError("cannot read {}: {}", path.string(), errno_text(error));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace paceline

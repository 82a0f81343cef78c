// A file in memory, for what a process and its child tell each other by a descriptor: writing waits
// for nobody, and what was written is there whatever becomes of the writer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace paceline {

class MemoryFile {
 public:
  // `name` is what lists of open files show. Throws ResourceError.
  explicit MemoryFile(const char* name, std::string_view content = {});
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// All that is in a file, up to `most` bytes, wherever its offset is. Throws DataError.
std::string content_of(int descriptor, std::size_t most);

}  // namespace paceline

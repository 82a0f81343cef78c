#include "base/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

namespace paceline {

// Before anything is written to it: pages are made then. When the hint is not taken all works as
// well, only slower.
Buffer large_page_buffer(std::size_t bytes) {
  Buffer buffer(bytes);
  constexpr std::size_t kLeast = std::size_t{4} << 20;  // else no large page may find room in it
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* begin = buffer.data();
  if (bytes >= kLeast && std::align(page, page, begin, bytes) != nullptr) {
    ::madvise(begin, bytes / page * page, MADV_HUGEPAGE);
  }
  return buffer;
}

}  // namespace paceline

#include "base/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace paceline {

// Before anything is written to it: pages are made then. When the hint is not taken all works as
// well, only slower.
Buffer large_page_buffer(std::size_t bytes) {
  Buffer buffer(bytes);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(buffer.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(buffer.data() + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  return buffer;
}

}  // namespace paceline

#include "base/file/read_at.h"

#include <unistd.h>

#include <cerrno>

namespace paceline {

std::optional<std::size_t> read_at(int file, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got = ::pread(file, into.data() + filled, into.size() - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace paceline

#include "optim/rows/row_table.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

namespace paceline {

RowTable::RowTable(std::uint64_t rows) : rows_(rows) {
  void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw ResourceError("there is no memory for a table of {}", format_bytes(bytes()));
  }
  data_ = static_cast<TableRow*>(memory);
  populate();
}

// Now, and not row by row. Rows are used in no order: with small pages every one of them would cost
// a walk through the page table, too. But where memory is in pieces the system moves them together
// first, for up to ten seconds per gigabyte, and large pages are not worth that.
void RowTable::populate() {
  constexpr std::uint64_t kSlice = std::uint64_t{64} << 20;
  constexpr double kSlowest = 1e9;  // bytes per second
  const TimePoint began = Clock::now();
  for (std::uint64_t at = 0; at < bytes(); at += kSlice) {
    std::byte* slice = reinterpret_cast<std::byte*>(data_) + at;
    const std::uint64_t size = std::min(kSlice, bytes() - at);
    const bool in_time = seconds(Clock::now() - began) < 0.5 + static_cast<double>(at) / kSlowest;
    if (in_time) ::madvise(slice, size, MADV_HUGEPAGE);
    ::madvise(slice, size, MADV_POPULATE_WRITE);
  }
}

RowTable::~RowTable() {
  ::munmap(data_, bytes());
}

}  // namespace paceline

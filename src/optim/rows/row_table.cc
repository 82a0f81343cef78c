#include "optim/rows/row_table.h"

#include <sys/mman.h>

#include "base/error.h"
#include "base/units.h"

namespace paceline {

RowTable::RowTable(std::uint64_t rows) : rows_(rows) {
  void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw ResourceError("there is no memory for a table of {}", format_bytes(bytes()));
  }
  // Rows are used in no order: with small pages every one of them would cost a walk through the
  // page table, too.
  ::madvise(memory, bytes(), MADV_HUGEPAGE);
  ::madvise(memory, bytes(), MADV_POPULATE_WRITE);  // now, and not row by row
  data_ = static_cast<TableRow*>(memory);
}

RowTable::~RowTable() {
  ::munmap(data_, bytes());
}

}  // namespace paceline

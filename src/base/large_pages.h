// Memory that is used in no order. With pages of 4 KB nearly every use of a large one costs a walk
// through the page table, too; so it lies in pages of 2 MB as far as the system has them.
#pragma once

#include "base/buffer.h"

namespace paceline {

// What is in it is undefined. Throws ResourceError.
Buffer large_page_buffer(std::size_t bytes);

}  // namespace paceline

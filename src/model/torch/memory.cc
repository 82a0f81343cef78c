#include "model/torch/memory.h"

#include <malloc.h>

#include <limits>

namespace paceline {

void keep_freed_memory() {
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_ARENA_MAX, 1);  // the arenas of further threads give back whatever they can
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace paceline

// What a disk may hold after the power has failed.
//
// On the disk is what was synced: the bytes and the size of a file after fsync() of it, the names
// in a folder after fsync() of that. Of everything else each piece may be there or not, in any
// order: of a write every sector or page by itself, so that it is torn; a new size without the
// bytes, which are zeros then; a name without the content of its file, so that a rename overtakes
// what was written before. Only a rename itself is whole: it happens, or it does not.
#pragma once

#include <cstdint>
#include <filesystem>

#include "power_loss/disk_log.h"

namespace paceline {

struct Crash {
  std::size_t events = 0;  // the power fails after so many
  std::uint64_t seed = 0;  // 0: nothing is left but what was synced; others: see above
};

// Makes the folder `into`, which must not exist, as the disk may be then.
void restore(const DiskLog& log, const Crash& crash, const std::filesystem::path& into);

}  // namespace paceline

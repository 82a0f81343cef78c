// Whether a run's checkpoints fit on the disk, before anything is trained.
#pragma once

#include <cstdint>
#include <string>

#include "train/workload.h"

namespace paceline {

// Of one checkpoint, nearly: without its few kilobytes of names and settings.
std::uint64_t checkpoint_bytes(const RunConfig& config, const Workload& workload);

// Throws DataError with the numbers when not even one checkpoint fits into `room` bytes. Returns
// a sentence when those that are to be kept do not all fit, nothing when they do.
std::string check_room(const RunConfig& config, std::uint64_t checkpoint, std::uint64_t room);

}  // namespace paceline

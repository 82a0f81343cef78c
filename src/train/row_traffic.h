// What rows by key will cost on the wire, before anything is sent: some shares of the run are read,
// and the rows that they touch are counted.
#pragma once

#include <cstdint>

#include "train/workload.h"

namespace paceline {

// Of a worker's share of a step, on average.
struct RowTraffic {
  double rows = 0;           // of the table that it touches
  double bytes = 0;          // of their keys, weights and gradients; what frames them is little
  std::uint64_t shares = 0;  // that were counted
};

// Of a row that a share touches: its key, about, and its weight and gradients.
inline constexpr double kKeyBytes = 1.5;
double numbers_bytes(const RunConfig& config, const Share& share);

// Opens the training rows. Throws DataError.
RowTraffic estimate_row_traffic(const RunConfig& config, const Workload& workload);

}  // namespace paceline

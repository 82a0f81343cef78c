// Raw reviews → token sequences in one file: `paceline prepare reviews`.
//
// All that is between lies in a folder beside the output, NAME.work, which goes when the output is
// there. A run that was interrupted or killed goes on from it. Memory is bounded whatever the
// input's size, and several processes may share the work; docs/prepare.md explains how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "prepare/fleet.h"
#include "prepare/progress.h"
#include "prepare/settings.h"
#include "prepare/tasks.h"

namespace paceline {

enum class PrepareFormat { kHdf5, kTsv };

struct PrepareOptions {
  std::vector<std::string> inputs;
  std::filesystem::path output;
  PrepareFormat format = PrepareFormat::kHdf5;
  PrepareSettings settings;
  unsigned threads = 0;                           // 0: see threads_for()
  std::uint64_t memory = std::uint64_t{1} << 30;  // of each process
  std::uint64_t portion_bytes = 0;  // of the input to read at a time; 0: as the memory allows
  std::size_t open_files = 800;     // at a time, of the 1,024 that a process may usually have
  std::filesystem::path work_dir;   // of OUTPUT.work; empty: that of the output
  // Several processes write the output at the same time, with parallel HDF5. Otherwise the first
  // writes what all have deflated.
  bool parallel_output = false;
  bool fresh = false;  // what an earlier run has left is thrown away
};

// As many threads as there are cores, or as find room in the memory.
unsigned threads_for(const PrepareOptions& options, unsigned cores);

// Returns what was counted on the way, in every process of the fleet. Throws
// ConfigError, DataError, or Interrupted when `stop` was set; with several processes SharedError.
nlohmann::json prepare_reviews(const PrepareOptions& options, Fleet& fleet, const StopFlag& stop,
                               const PrepareNews& news);

}  // namespace paceline

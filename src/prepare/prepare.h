// Raw reviews → token sequences in one file: `paceline prepare reviews`.
//
// All that is between lies in a folder beside the output, NAME.work, which goes when the output is
// there. A run that was interrupted or killed goes on from it. Memory is bounded whatever the
// input's size; docs/prepare.md explains how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "prepare/settings.h"
#include "prepare/tasks.h"

namespace paceline {

enum class PrepareFormat { kHdf5, kTsv };

struct PrepareOptions {
  std::vector<std::string> inputs;
  std::filesystem::path output;
  PrepareFormat format = PrepareFormat::kHdf5;
  PrepareSettings settings;
  unsigned threads = 0;  // 0: see threads_for()
  std::uint64_t memory = std::uint64_t{1} << 30;
  std::uint64_t portion_bytes = 0;  // of the input to read at a time; 0: as the memory allows
  std::filesystem::path work_dir;   // empty: beside the output
  bool fresh = false;               // what an earlier run has left is thrown away
};

struct PrepareProgress {
  const char* step = "";        // "reading", "grouping", "writing"
  double done = 0;              // of the step: 0 to 1
  double bytes_per_second = 0;  // of the input, while reading
  double seconds_left = 0;      // of the step; below 0: not known
};

// Called from any thread, one at a time.
struct PrepareNews {
  std::function<void(const PrepareProgress&)> progress = [](const PrepareProgress&) {};
  std::function<void(const std::string&)> notice = [](const std::string&) {};
};

// As many threads as there are cores, or as find room in so much memory.
unsigned threads_for(std::uint64_t memory, unsigned cores);

// Returns the summary that docs/prepare.md describes. Throws ConfigError, DataError, or Interrupted
// when `stop` was set.
nlohmann::json prepare_reviews(const PrepareOptions& options, const StopFlag& stop,
                               const PrepareNews& news);

}  // namespace paceline

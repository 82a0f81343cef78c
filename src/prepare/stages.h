// The stages of a preparation, in their order.
//
// A stage is cut into tasks (tasks.h); with several processes (fleet.h) each has some of them, and
// what a stage returns of "all" is the same in each.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "prepare/fleet.h"
#include "prepare/group_step.h"
#include "prepare/number_step.h"
#include "prepare/prepare.h"
#include "prepare/read_step.h"
#include "prepare/work_folder.h"

namespace paceline {

struct PrepareContext {
  const PrepareOptions& options;
  Fleet& fleet;
  WorkFolder& folder;
  const StopFlag& stop;
  const PrepareNews& news;
  std::size_t thread_memory = 0;
};

// Raw reviews → sorted runs: those that have the slices of this process.
struct ReadResult {
  ReadReport all;
  std::vector<std::filesystem::path> runs;
};
ReadResult read_stage(const PrepareContext& context, const std::vector<InputFile>& files);

// Runs → rows of numbered words, and lists of these.
struct GroupResult {
  GroupReport all;
  std::array<PartRows, kReviewParts> parts;
  struct Segment {
    std::filesystem::path name;
    std::uint32_t words = 0;
  };
  std::vector<Segment> segments;
};
GroupResult group_stage(const PrepareContext& context, std::vector<std::filesystem::path> runs);

// Lists → the vocabulary.
struct WordResult {
  std::vector<std::string> words;  // of the vocabulary
  std::uint64_t different = 0;     // words that were counted; 0: none was
};
WordResult word_stage(const PrepareContext& context, const GroupResult& grouped);

// Rows of numbered words → rows of the vocabulary's numbers, in files: deflated chunks, and in the
// end all of them with the first process; or plain rows, each with the process that made them.
struct NumberResult {
  NumberReport all;
  std::uint32_t id_bytes = 2;
  struct Rows {
    std::size_t part = 0;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::filesystem::path path;
  };
  std::vector<Rows> rows;
};
NumberResult number_stage(const PrepareContext& context, const GroupResult& grouped,
                          const std::vector<std::string>& words);

// Those → the output, which appears under its name.
struct Description {
  std::vector<std::string> words;
  std::string settings;
  std::string counts;
  std::string input_checksum;
  std::string content_checksum;
};
inline bool writes_together(const PrepareContext& context) {
  return context.fleet.size() > 1 && context.options.parallel_output;
}
void write_stage(const PrepareContext& context, const GroupResult& grouped,
                 const NumberResult& numbered, const Description& description);

}  // namespace paceline

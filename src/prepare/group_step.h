// The second step: some slices of all runs → each text once, with its label, as numbers of words,
// and counts of these.
//
// Numbers are of a table of bounded size. When it is full, a new segment begins: rows and the list
// that says which words they mean.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "prepare/settings.h"
#include "prepare/tasks.h"

namespace paceline {

inline constexpr std::size_t kLengthBins = 21;  // by tens of words; the last: 200 or more

struct SegmentSize {
  std::array<std::uint64_t, kReviewParts> rows{};
  std::uint32_t words = 0;  // different ones
};

struct GroupReport {
  std::uint64_t texts = 0;       // different ones
  std::uint64_t duplicates = 0;  // further reviews with the same text
  std::uint64_t undecided = 0;   // texts whose rating is neither negative nor positive
  std::uint64_t empty = 0;       // texts of which nothing is left without stop words
  std::array<std::array<std::uint64_t, 2>, kReviewParts> labels{};  // rows by part and label
  std::array<std::uint64_t, kLengthBins> lengths{};                 // rows by words
  std::uint64_t words = 0;                                          // of all rows
  std::uint64_t cut = 0;                                            // rows that were too long
  std::vector<SegmentSize> segments;

  void add(const GroupReport& more);  // all but the segments
  std::uint64_t rows(ReviewPart part) const;
};
nlohmann::json to_json(const GroupReport& report);
GroupReport group_report(const nlohmann::json& json);

struct GroupTask {
  const std::vector<std::filesystem::path>& runs;
  std::size_t first_slice = 0;
  std::size_t end_slice = 0;
  std::size_t memory = 0;
  std::filesystem::path name;            // of its segments: NAME-0, …
  std::atomic<std::uint64_t>& progress;  // slices
  const StopFlag& stop;
};
GroupReport group_slices(const GroupTask& task, const PrepareSettings& settings);

// The files of a segment: its rows of a part, the list of its words, and what their numbers mean in
// the output.
std::filesystem::path segment_name(const std::filesystem::path& task_name, std::size_t number);
std::filesystem::path rows_path(const std::filesystem::path& segment, ReviewPart part);
std::filesystem::path words_path(const std::filesystem::path& segment);
std::filesystem::path numbers_path(const std::filesystem::path& segment);

}  // namespace paceline

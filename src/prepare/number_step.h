// The last step: words → their numbers in the vocabulary, in chunks as HDF5 keeps them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "prepare/groups.h"
#include "prepare/settings.h"
#include "prepare/tasks.h"

namespace paceline {

// The rows of a part that this process has: those of its segments, one behind the other.
struct PartRows {
  struct Segment {
    std::filesystem::path rows;
    std::filesystem::path numbers;  // as translate_list() of word_numbers.h writes them
  };
  ReviewPart part = ReviewPart::kTrain;
  std::vector<Segment> segments;
  std::vector<std::uint64_t> first_rows;  // of each, counted from the part's first; and the end
  std::uint64_t all = 0;                  // rows of the part, in all processes
  std::vector<std::uint64_t> ends;        // where the rows of each process end

  std::uint64_t begin() const { return first_rows.front(); }
  std::uint64_t end() const { return first_rows.back(); }
};

// Of a chunk of ids: less where rows are long, so that a chunk stays small.
constexpr std::uint64_t chunk_rows(std::uint64_t length) {
  constexpr std::uint64_t kMostIds = std::uint64_t{1} << 19;
  std::uint64_t rows = 1024;
  while (rows > 1 && rows * length > kMostIds) rows /= 2;
  return rows;
}
// Of a task, and of a chunk of labels.
constexpr std::uint64_t task_rows(std::uint64_t length) {
  return 16 * chunk_rows(length);
}

// A checksum of rows and their places, the same in whatever order they come.
struct ContentSum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(const ContentSum& more);
  std::string text() const;  // 32 hexadecimal digits
};

struct NumberReport {
  ContentSum sum;
  std::uint64_t words = 0;
  std::uint64_t unknown = 0;  // of them, which are not in the vocabulary

  void add(const NumberReport& more);
};
nlohmann::json to_json(const NumberReport& report);
NumberReport number_report(const nlohmann::json& json);

enum class Chunks {
  kDeflated,  // as HDF5 keeps them, whole
  kPlain,     // rows as they are, all in one
};

struct NumberTask {
  const PartRows& rows;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  Chunks chunks = Chunks::kDeflated;
  std::uint32_t numbers_end = 0;  // up to 2^16 an id has two bytes, else four
  std::filesystem::path path;     // of the file that it makes
  const StopFlag& stop;
};
NumberReport number_rows(const NumberTask& task, const PrepareSettings& settings);

struct NumberedRows {
  std::vector<std::string> ids;  // chunks
  std::string labels;            // one chunk
};
NumberedRows read_numbered(const std::filesystem::path& path);

// Plain rows of a task that several processes have numbered, one behind the other → its file, as
// one process would have made it.
void join_numbered(const std::vector<std::filesystem::path>& plain, std::uint32_t length,
                   std::uint32_t id_bytes, const std::filesystem::path& path);

}  // namespace paceline

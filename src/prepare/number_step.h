// The last step: words → numbers, in chunks that are deflated as HDF5 wants them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "prepare/groups.h"
#include "prepare/settings.h"
#include "prepare/tasks.h"

namespace paceline {

// Words and their numbers; any number of threads.
class WordNumbers {
 public:
  explicit WordNumbers(const std::vector<std::string>& words);

  std::uint32_t number(std::string_view word) const;  // kUnknown when it is not among them
  std::uint32_t end() const { return end_; }          // all numbers are below

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t begin = 0;
    std::uint32_t bytes = 0;
    std::uint32_t number = 0;
  };
  std::string text_;
  std::vector<Entry> table_;
  unsigned shift_ = 0;  // of keys, to places
  std::uint32_t end_ = 0;
};

// The rows of a part lie in the files of group tasks, one behind the other.
struct PartFiles {
  ReviewPart part = ReviewPart::kTrain;
  std::vector<std::filesystem::path> paths;
  std::vector<std::uint64_t> first_rows;  // of each file; at the end: the number of rows

  std::uint64_t rows() const { return first_rows.back(); }
};

// Calls `visit` with the rows [first, end), numbered.
void for_each_row(const PartFiles& files, std::uint64_t first, std::uint64_t end,
                  const std::function<void(std::uint64_t row, const GroupedReview&)>& visit);

inline constexpr std::uint64_t kChunkRows = 1024;            // of ids
inline constexpr std::uint64_t kTaskRows = 64 * kChunkRows;  // of a task, and of a chunk of labels

// A checksum of rows and their places, the same in whatever order they come.
struct ContentSum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(const ContentSum& more);
  std::string text() const;  // 32 hexadecimal digits
};

struct NumberedRows {
  std::vector<std::string> ids;  // chunks
  std::string labels;            // one chunk
  ContentSum sum;
  std::uint64_t words = 0;
  std::uint64_t unknown = 0;  // of them, which are not in the vocabulary
};

struct NumberTask {
  const PartFiles& files;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  std::filesystem::path path;  // of the file that it makes
  const StopFlag& stop;
};
void number_rows(const NumberTask& task, const WordNumbers& words, const PrepareSettings& settings);
NumberedRows read_numbered(const std::filesystem::path& path);

}  // namespace paceline

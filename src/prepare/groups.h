// Reviews on their way from grouping to numbering: each text once, with its label, in the order of
// its hash, as the numbers which the words that will be kept have in a table (word_table.h).
//
// A file holds rows of one part (train, validation or test), and marks: where every 1024th begins,
// and a checksum of those up to the next. A row is how many numbers there are and the label, and
// then these, as they are in memory: numbers of fewer bytes took longer to make and to read than
// the bytes to write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "prepare/buffered_file.h"

namespace paceline {

struct GroupMark {
  std::uint64_t begin = 0;     // of its rows
  std::uint64_t checksum = 0;  // the sum of theirs
};

struct GroupedReview {
  std::uint8_t label = 0;
  std::span<const std::uint32_t> words;
};

// One thread at a time; both throw DataError.
class GroupWriter {
 public:
  explicit GroupWriter(const std::filesystem::path& path) : file_(path) {}
  void add(const GroupedReview& review);
  std::uint64_t rows() const { return rows_; }
  void commit();

 private:
  BufferedFile file_;
  std::uint64_t rows_ = 0;
  std::vector<GroupMark> marks_;
};

class GroupReader {
 public:
  explicit GroupReader(const std::filesystem::path& path);
  ~GroupReader();

  std::uint64_t rows() const;
  void seek(std::uint64_t row);
  bool next(GroupedReview& review);  // valid until the next call; false: that was the last

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

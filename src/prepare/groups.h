// Reviews on their way from grouping to numbering: each text once, with its label, in the order of
// its hash, as the words that will be kept.
//
// A file holds the rows of one part (train, validation or test) of some slices, and where every
// kRowsPerMark-th begins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace paceline {

struct GroupedReview {
  std::uint8_t label = 0;
  std::string_view words;  // with one blank between them
};

// One thread at a time; both throw DataError.
class GroupWriter {
 public:
  explicit GroupWriter(const std::filesystem::path& path);
  void add(const GroupedReview& review);
  std::uint64_t rows() const { return rows_; }
  void commit();

 private:
  void flush();

  AtomicFile file_;
  std::string pending_;
  std::uint64_t written_ = 0;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> marks_;
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

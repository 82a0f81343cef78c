// Sorted runs: how texts that are equal find each other in little memory.
//
// A run is a file of cleaned texts in the order of (hash, text), each once, with how often it had
// which rating, and cut into slices by the hash (sliced_file.h). That order depends on the texts
// alone, so it does not matter who read which of them, and when.
//
//   record   hash · bytes of text · ratings: how many, or the only one · [rating, count …] · text
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "prepare/review_parser.h"
#include "prepare/sliced_file.h"

namespace paceline {

std::uint64_t hash_of_text(std::string_view text);

struct RatingCount {
  std::uint64_t count = 0;
  std::uint32_t rating = 0;
  std::uint32_t unused = 0;

  bool operator==(const RatingCount&) const = default;
};

// A text and all ratings that it had, ascending. Views are valid until the next one is asked for.
struct RatedText {
  std::uint64_t hash = 0;
  std::string_view text;
  std::span<const RatingCount> ratings;
};

// Takes texts in their order and writes a run. One thread at a time; throws DataError.
class RunWriter {
 public:
  explicit RunWriter(const std::filesystem::path& path);
  void add(const RatedText& text);
  void commit() { file_.commit(); }

 private:
  SlicedWriter file_;
};

// Texts in any order, up to some memory; sorted when they are written.
class RunBuilder {
 public:
  explicit RunBuilder(std::size_t memory);

  bool full() const;         // the longest text may not fit any more
  std::size_t held() const;  // bytes of memory, also what was used before
  bool empty() const { return entries_.empty(); }
  void add(std::string_view text, Rating rating, std::uint32_t times = 1);
  // Writes the run and is empty again.
  void write(const std::filesystem::path& path);

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t begin;
    std::uint32_t bytes;
    std::uint32_t times;
    Rating rating;
  };
  std::string_view text_of(const Entry& entry) const {
    return {reinterpret_cast<const char*>(texts_.data()) + entry.begin, entry.bytes};
  }
  void fetch(const Entry& entry) const;

  std::size_t memory_;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
  Buffer texts_;
  std::vector<Entry> entries_;
};

SlicedFile open_run(const std::filesystem::path& path);

// Reads one slice after the other. One thread at a time; throws DataError when the file is damaged.
class RunReader {
 public:
  RunReader(const std::filesystem::path& path, std::size_t buffer_bytes);
  ~RunReader();
  RunReader(RunReader&&) noexcept;

  void begin(std::size_t slice);
  bool next(RatedText& text);  // false: the slice is over

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The texts of a slice from many runs, in their order, equal ones joined.
class RunMerger {
 public:
  RunMerger(std::vector<RunReader>& runs, std::size_t slice);
  bool next(RatedText& text);

 private:
  bool before(std::size_t a, std::size_t b) const;
  void sift_down(std::size_t at);

  std::vector<RunReader>& runs_;
  std::vector<RatedText> heads_;
  std::vector<std::size_t> heap_;  // of runs that have a text left
  std::string text_;
  std::vector<RatingCount> ratings_;
};

// Joins these slices of `runs` to a run at `path`.
void merge_runs(const std::vector<std::filesystem::path>& runs, SliceRange slices,
                const std::filesystem::path& path, std::size_t buffer_bytes);

}  // namespace paceline

// Files of records that are cut into slices by a hash of each.
//
// What is equal in two such files lies in the same slice of both, so they are merged slice by
// slice, in little memory and by as many threads as one likes; and some slices of a file, sent to
// another process, are such a file again. Everything throws DataError naming the file.
//
//   records   slice after slice
//   tail      where each slice begins, the sum of its records' checksums, and what the file is
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "prepare/buffered_file.h"
#include "prepare/file_piece.h"

namespace paceline {

inline constexpr std::size_t kSlices = 256;

inline std::size_t slice_of(std::uint64_t hash) {
  return hash >> 56;
}

// Slices [first, end).
struct SliceRange {
  std::size_t first = 0;
  std::size_t end = kSlices;
};

// Those of process `rank`, when so many share all slices.
inline SliceRange slices_of(std::size_t rank, std::size_t processes) {
  return {rank * kSlices / processes, (rank + 1) * kSlices / processes};
}

struct SliceTail {
  std::array<std::uint64_t, kSlices + 1> begins{};
  std::array<std::uint64_t, kSlices> checksums{};
  std::uint64_t magic = 0;
};

std::uint64_t checksum_of_record(std::string_view record);

// One thread at a time.
class SlicedWriter {
 public:
  // `magic` says what the records are.
  SlicedWriter(const std::filesystem::path& path, std::uint64_t magic) : file_(path) {
    tail_.magic = magic;
  }

  // A record is what is added to the file between these two; slices ascend.
  BufferedFile& begin_record(std::size_t slice);
  void end_record();
  void commit();

 private:
  BufferedFile file_;
  SliceTail tail_;
  std::size_t slice_ = 0;
  std::uint64_t record_ = 0;  // where it begins
};

// Any number of threads, once it is made.
class SlicedFile {
 public:
  SlicedFile(const std::filesystem::path& path, std::uint64_t magic);
  ~SlicedFile();
  SlicedFile(SlicedFile&& other) noexcept;
  SlicedFile& operator=(SlicedFile&&) = delete;

  std::uint64_t begin(std::size_t slice) const { return tail_.begins[slice]; }
  std::uint64_t end(std::size_t slice) const { return tail_.begins[slice + 1]; }
  std::uint64_t checksum(std::size_t slice) const { return tail_.checksums[slice]; }

  void read(std::uint64_t from, void* into, std::size_t bytes) const;
  FilePiece piece(SliceRange slices) const;
  [[noreturn]] void fail(const std::string& how) const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
  SliceTail tail_;
};

}  // namespace paceline

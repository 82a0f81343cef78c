// The numbers of a part of prepared reviews, read from their file a block at a time.
//
// A block is some whole chunks of the file. Any number of threads: chunks as `paceline prepare`
// writes them are inflated by the thread that asks. HDF5's library, which takes one thread after
// the other, only fetches their bytes; what is not such a chunk, it reads as a whole. Throws
// DataError naming the file and the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/range.h"

namespace paceline {

// How the numbers lie in the file, and in a block that was read.
struct IdTable {
  std::filesystem::path file;
  std::string name;  // "train/ids"
  std::uint64_t rows = 0;
  std::uint32_t length = 0;      // numbers of a row
  std::uint32_t bytes = 0;       // of a number: 2 without a sign, or 4 with one
  std::uint64_t block_rows = 0;  // the last block may have fewer

  std::uint64_t blocks() const { return (rows + block_rows - 1) / block_rows; }
  Range rows_of(std::uint64_t block) const {
    return {block * block_rows, std::min((block + 1) * block_rows, rows)};
  }
  std::size_t block_bytes() const { return std::size_t{block_rows} * length * bytes; }
  [[noreturn]] void refuse(const std::string& reason) const;
  [[noreturn]] void refuse_damaged(Range wanted) const;
};

class PreparedIds {
 public:
  // The table `name` of a file that is known to be one of prepared reviews.
  PreparedIds(const std::filesystem::path& file, const std::string& name);
  ~PreparedIds();

  const IdTable& table() const;
  // `into` has the size of a whole block, whatever the last one has.
  void read(std::uint64_t block, std::span<std::byte> into) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

// Rows in a file that is mapped and read as it is: what text becomes when it is read for the
// first time.
//
//   head    what this file is: a name, a format, the order of bytes
//   blocks  of kRowsPerBlock rows: where each of them begins, then the rows (row.h)
//   tail    where the blocks are and their checksums; the hot keys; what the rows were made of
//
// Hot keys are those that many rows have, as a sample of the first rows says. In the rows they
// are places in this list: whoever trains keeps their weights side by side, in the cache of a
// core, and need not share a line of memory with other cores at every row.
//
// Numbers are little-endian.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "data/sparse/row_parser.h"

namespace paceline {

inline constexpr std::uint64_t kRowsPerBlock = 256;

struct RowCacheInfo {
  std::string source;  // of what it was made: when that changes, the rows are of no use
  std::uint32_t bits = 0;
  std::uint64_t rows = 0;
  std::uint64_t keys = 0;  // of all rows
  std::uint64_t positive = 0;
  std::uint64_t bad_lines = 0;
};

class RowCacheWriter {
 public:
  explicit RowCacheWriter(const std::filesystem::path& path);
  ~RowCacheWriter();

  void add(const RowBuffer& rows);  // in their order
  // The file appears under its name. Fills in the counts of `info`.
  void commit(RowCacheInfo info);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether a file has the first bytes of one; it may be damaged, or of another version.
bool begins_as_row_cache(const std::filesystem::path& path);

// Any number of threads at once.
class RowCache {
 public:
  // Throws DataError when the file is no such cache, is damaged, or was made by another version
  // or on another kind of machine.
  explicit RowCache(const std::filesystem::path& path);

  const RowCacheInfo& info() const { return info_; }
  const std::vector<Key>& hot() const { return hot_; }

  void verify_all() const;  // every block; throws DataError

  // Its words. The first time that a block is used its checksum is verified, and that its rows lie
  // in it, and their keys in the list of hot keys or within 2^bits; throws DataError when it is
  // not so. Whoever uses the keys need not look again.
  const std::uint32_t* row(std::uint64_t number) const {
    const std::uint64_t block = number / kRowsPerBlock;
    if (!verified_[block].load(std::memory_order_relaxed)) verify(block);
    const std::uint32_t* words = blocks_[block].words;
    return words + words[number % kRowsPerBlock];
  }

 private:
  struct Block {
    const std::uint32_t* words;
    std::uint64_t bytes;
    std::uint64_t checksum;
  };
  void verify(std::uint64_t block) const;
  [[noreturn]] void fail(const std::string& how) const;

  std::filesystem::path path_;
  MappedFile file_;
  RowCacheInfo info_;
  std::vector<Key> hot_;
  std::vector<Block> blocks_;
  mutable std::vector<std::atomic<bool>> verified_;
};

}  // namespace paceline

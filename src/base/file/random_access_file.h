// A file that is read at offsets. Every failure is a DataError that names it. Several
// threads may read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace paceline {

class RandomAccessFile {
 public:
  explicit RandomAccessFile(std::filesystem::path path);
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }                      // when it was opened
  void read(std::uint64_t offset, std::span<std::byte> out) const;  // all of it, or throws

 private:
  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace paceline

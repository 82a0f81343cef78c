// Reads a file from its beginning to its end, whether or not it is compressed by gzip; or what is
// compressed by gzip and cannot be opened by a name. Every failure is a DataError that names the
// file. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/byte_source.h"

struct gzFile_s;  // of zlib

namespace paceline {

class GzipReader {
 public:
  explicit GzipReader(std::filesystem::path path);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fills as much of `into` as the file still holds and returns how much that is: less
  // than its size only at the end. Throws when the file is cut off or its sum is wrong.
  std::size_t read(std::span<std::byte> into);

  const std::filesystem::path& path() const { return path_; }
  bool compressed() const { return compressed_; }
  std::uint64_t consumed() const;  // of the file as it is stored
  // The content is not longer than this, whatever its header promises: checked before
  // memory is allocated for it.
  std::uint64_t most_bytes() const;

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::uint64_t stored_bytes_ = 0;
  bool compressed_ = false;
  gzFile_s* file_ = nullptr;
};

class GzipStream {
 public:
  static bool has_magic(std::string_view beginning);

  GzipStream(ByteSource source, std::string name);
  ~GzipStream();

  // As GzipReader's.
  std::size_t read(std::span<std::byte> into);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

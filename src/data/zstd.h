// Reads what is compressed by zstd, from its beginning to its end. Every failure is a DataError
// that names the file. Used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/byte_source.h"

namespace paceline {

class ZstdReader {
 public:
  static bool has_magic(std::string_view beginning);
  static bool is_one(const std::filesystem::path& path);  // by its first bytes

  explicit ZstdReader(const std::filesystem::path& path);
  ZstdReader(ByteSource source, std::string name);
  ~ZstdReader();

  // Fills as much of `into` as the file still holds and returns how much that is: less
  // than its size only at the end. Throws when the file is cut off or damaged.
  std::size_t read(std::span<std::byte> into);
  std::uint64_t consumed() const;  // of the file as it is stored

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

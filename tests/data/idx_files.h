// Writes IDX files, right and wrong ones, for the tests of this folder.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/data_error.h"

namespace paceline {

inline constexpr std::uint32_t kImageMagic = 0x803;
inline constexpr std::uint32_t kLabelMagic = 0x801;

inline std::string big_endian(const std::vector<std::uint32_t>& numbers) {
  std::string bytes;
  for (const std::uint32_t number : numbers) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  }
  return bytes;
}

// Byte j of image i is (i · 7 + j) mod 256; label i is i mod 10.
inline std::string image_bytes(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  std::string bytes = big_endian({kImageMagic, count, rows, columns});
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t j = 0; j < rows * columns; ++j) bytes += static_cast<char>(i * 7 + j);
  }
  return bytes;
}

inline std::string label_bytes(std::uint32_t count) {
  std::string bytes = big_endian({kLabelMagic, count});
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

inline void write_plain(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void write_gzip(const std::filesystem::path& path, const std::string& bytes) {
  const gzFile file = ::gzopen(path.c_str(), "wb");
  const bool written = ::gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
                       static_cast<int>(bytes.size());
  if (::gzclose(file) != Z_OK || !written)
    throw std::runtime_error("cannot write " + path.string());
}

}  // namespace paceline

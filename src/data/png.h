// Reads PNG files, which some datasets come as.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace paceline {

struct Pixels {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;  // [height, width, 3]
};

// Throws DataError naming the file and what is wrong with it.
Pixels read_png(const std::filesystem::path& file);

}  // namespace paceline

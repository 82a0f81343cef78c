// Images in the simplest format there is, for tests: a header in words, then the pixels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file/file.h"

namespace paceline {

inline void write_ppm(const std::filesystem::path& file, std::uint32_t width, std::uint32_t height,
                      const std::vector<std::uint8_t>& rgb) {
  std::filesystem::create_directories(file.parent_path());
  write_atomically(file, "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n" +
                             std::string(rgb.begin(), rgb.end()));
}

// One colour all over.
inline void write_plain_ppm(const std::filesystem::path& file, std::uint32_t side, std::uint8_t red,
                            std::uint8_t green, std::uint8_t blue) {
  std::vector<std::uint8_t> rgb;
  for (std::uint32_t i = 0; i < side * side; ++i) rgb.insert(rgb.end(), {red, green, blue});
  write_ppm(file, side, side, rgb);
}

}  // namespace paceline

// Image files → pixels, by OpenCV.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace paceline {

// See ImageDecoder.
bool decode_image(const std::filesystem::path& file, std::uint32_t side,
                  std::span<std::uint8_t> out);

}  // namespace paceline

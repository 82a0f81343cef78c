#include "data/png.h"

#include <png.h>

#include "base/error.h"
#include "base/units.h"

namespace paceline {

Pixels read_png(const std::filesystem::path& file) {
  // A header may promise anything. What is deflated grows to no more than so many times its size,
  // and a pixel has a bit at least.
  constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 28;
  constexpr std::uint64_t kMostPixelsPerByte = std::uint64_t{8} * 1032;
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const auto fail = [&](const std::string& reason) {
    ::png_image_free(&image);
    throw DataError("{}: {}", file.string(), reason);
  };
  if (::png_image_begin_read_from_file(&image, file.c_str()) == 0) fail(image.message);
  Pixels pixels{image.width, image.height, {}};
  const std::uint64_t count = std::uint64_t{pixels.width} * pixels.height;
  if (count > kMostPixels) fail(fmt::format("{} pixels are too many", format_count(count)));
  std::error_code none;
  if (count / kMostPixelsPerByte > std::filesystem::file_size(file, none)) {
    fail(fmt::format("it is too short for {} pixels: it was cut off or is damaged",
                     format_count(count)));
  }
  image.format = PNG_FORMAT_RGB;
  pixels.rgb.resize(count * 3);
  if (::png_image_finish_read(&image, nullptr, pixels.rgb.data(), 0, nullptr) == 0) {
    fail(image.message);
  }
  return pixels;
}

}  // namespace paceline

// Any bytes as a PNG file, and as the sheets of images that CIFAR-10 comes as: a DataError, or the
// pixels of the picture, which are the same when they are written and read again.
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "data/cifar.h"
#include "data/png.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace png_fuzzer {

void check_again(const Pixels& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = pixels.width;
  image.height = pixels.height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  ::png_image_write_to_memory(&image, nullptr, &size, 0, pixels.rgb.data(), 0, nullptr);
  std::vector<std::uint8_t> written(size);
  require(::png_image_write_to_memory(&image, written.data(), &size, 0, pixels.rgb.data(), 0,
                                      nullptr) != 0);
  const BytesFile file(FuzzBytes(written).first(size));
  const Pixels again = read_png(file.path());
  require(again.width == pixels.width && again.height == pixels.height && again.rgb == pixels.rgb);
}

// Labels, and the colours of each pixel, plane by plane.
void check_records(const Pixels& sheet) {
  constexpr std::size_t kPlane = 32 * 32;
  std::vector<std::uint8_t> labels(std::min<std::size_t>(sheet.height, 1000));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  const std::string records = cifar_records(sheet, labels);
  require(records.size() == labels.size() * kCifarRecord);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const char* record = records.data() + i * kCifarRecord;
    require(static_cast<std::uint8_t>(record[0]) == labels[i]);
    for (std::size_t at = 0; at < 3 * kPlane; ++at) {
      require(static_cast<std::uint8_t>(record[1 + at]) ==
              sheet.rgb[i * 3 * kPlane + at % kPlane * 3 + at / kPlane]);
    }
  }
}

void run(FuzzBytes bytes) {
  const BytesFile file(bytes);
  accepts<DataError>([&] {
    const Pixels pixels = read_png(file.path());
    require(pixels.rgb.size() == std::size_t{3} * pixels.width * pixels.height);
    if (pixels.rgb.size() < 100'000) check_again(pixels);
    check_records(pixels);
  });
}

std::uint32_t big_endian(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
         at[3];
}

// The signature, and the checksum of each chunk.
void seal(std::span<std::uint8_t> data) {
  constexpr std::array<std::uint8_t, 8> kSignature = {137, 80, 78, 71, 13, 10, 26, 10};
  constexpr std::size_t kAround = 12;  // length, name and checksum of a chunk
  if (data.size() < kSignature.size()) return;
  std::ranges::copy(kSignature, data.begin());
  data = data.subspan(kSignature.size());
  while (data.size() >= kAround) {
    const std::uint32_t length = big_endian(data.data());
    if (length > data.size() - kAround) return;
    const auto crc = static_cast<std::uint32_t>(::crc32(0, data.data() + 4, length + 4));
    for (std::size_t i = 0; i < 4; ++i) {
      data[8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    data = data.subspan(kAround + length);
  }
}

}  // namespace png_fuzzer

const FuzzTarget kPngFuzzer{"png", png_fuzzer::run, png_fuzzer::seal};

}  // namespace paceline

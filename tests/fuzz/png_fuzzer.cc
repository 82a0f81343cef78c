// Any bytes as a PNG file, and as the sheets of images that CIFAR-10 comes as: a DataError, or as
// many pixels as the picture says.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "data/cifar.h"
#include "data/png.h"
#include "fuzz/fuzz_target.h"

namespace paceline {
namespace {

void run(FuzzBytes bytes) {
  const BytesFile file(bytes);
  accepts<DataError>([&] {
    const Pixels pixels = read_png(file.path());
    require(pixels.rgb.size() == std::size_t{3} * pixels.width * pixels.height);
    const std::vector<std::uint8_t> labels(std::min<std::size_t>(pixels.height, 1000), 1);
    require(cifar_records(pixels, labels).size() == labels.size() * kCifarRecord);
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

}  // namespace

const FuzzTarget kPngFuzzer{"png", run, seal};

}  // namespace paceline

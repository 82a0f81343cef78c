#include "data/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"

namespace paceline {
namespace {

using testing::HasSubstr;

// Two pixels, one row: (1, 2, 3) and (250, 251, 252), as another program wrote it.
constexpr unsigned char kTwoPixels[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44,
    0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x7B,
    0x40, 0xE8, 0xDD, 0x00, 0x00, 0x00, 0x0F, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x60,
    0x64, 0x62, 0xFE, 0xF5, 0xFB, 0x0F, 0x00, 0x06, 0x03, 0x02, 0xF8, 0x4E, 0x96, 0xAD, 0xB6,
    0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};

std::string two_pixels() {
  return {reinterpret_cast<const char*>(kTwoPixels), sizeof kTwoPixels};
}

TEST(ReadPng, GivesThePixelsAsTheyAre) {
  const TempDir dir;
  write_atomically(dir / "two.png", two_pixels());
  const Pixels pixels = read_png(dir / "two.png");
  EXPECT_EQ(pixels.width, 2U);
  EXPECT_EQ(pixels.height, 1U);
  EXPECT_EQ(pixels.rgb, (std::vector<std::uint8_t>{1, 2, 3, 250, 251, 252}));
}

TEST(ReadPng, NamesAFileThatIsNoneOrWasCutOff) {
  const TempDir dir;
  EXPECT_THAT(data_error_of([&] { read_png(dir / "none.png"); }), HasSubstr("none.png"));
  write_atomically(dir / "text.png", "this is no image");
  EXPECT_THAT(data_error_of([&] { read_png(dir / "text.png"); }), HasSubstr("text.png"));
  write_atomically(dir / "short.png", two_pixels().substr(0, 50));
  EXPECT_THAT(data_error_of([&] { read_png(dir / "short.png"); }), HasSubstr("short.png"));
}

}  // namespace
}  // namespace paceline

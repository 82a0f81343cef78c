#include "data/images/decode.h"

#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "data/ppm_files.h"

namespace paceline {
namespace {

TEST(DecodeImage, GivesRedFirst) {
  const TempDir dir;
  write_plain_ppm(dir / "a.ppm", 5, 10, 20, 30);
  std::vector<std::uint8_t> out(3 * 3 * 3);
  ASSERT_TRUE(decode_image(dir / "a.ppm", 3, out));
  for (std::size_t i = 0; i < out.size(); i += 3) {
    EXPECT_EQ(out[i], 10);
    EXPECT_EQ(out[i + 1], 20);
    EXPECT_EQ(out[i + 2], 30);
  }
}

TEST(DecodeImage, ResizesByTheMeanOfThePixels) {
  const TempDir dir;
  write_ppm(dir / "a.ppm", 2, 2, {0, 0, 0, 100, 0, 0, 100, 0, 0, 200, 0, 0});
  std::vector<std::uint8_t> out(3);
  ASSERT_TRUE(decode_image(dir / "a.ppm", 1, out));
  EXPECT_EQ(out[0], 100);
  out.resize(4 * 4 * 3);
  ASSERT_TRUE(decode_image(dir / "a.ppm", 4, out));
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[15 * 3], 200);
}

TEST(DecodeImage, SaysWhenItCannot) {
  const TempDir dir;
  std::vector<std::uint8_t> out(3);
  EXPECT_FALSE(decode_image(dir / "none.jpg", 1, out));
  write_atomically(dir / "empty.jpg", "");
  EXPECT_FALSE(decode_image(dir / "empty.jpg", 1, out));
  write_atomically(dir / "text.png", "this is no image");
  EXPECT_FALSE(decode_image(dir / "text.png", 1, out));
}

}  // namespace
}  // namespace paceline

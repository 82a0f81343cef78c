#include "data/images/decode.h"

#include <gtest/gtest.h>

#include <opencv2/imgcodecs.hpp>

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

TEST(DecodeImage, ReadsWhatPeopleHave) {
  const TempDir dir;
  cv::Mat image(32, 32, CV_8UC3);
  for (std::uint8_t y = 0; y < 32; ++y) {
    for (std::uint8_t x = 0; x < 32; ++x) {
      const auto blue = static_cast<std::uint8_t>(8 * x);
      const auto green = static_cast<std::uint8_t>(8 * y);
      image.at<cv::Vec3b>(y, x) = cv::Vec3b(blue, green, 100);
    }
  }
  for (const char* name : {"a.jpg", "a.png", "a.bmp"}) {
    const auto file = dir / name;
    ASSERT_TRUE(cv::imwrite(file.string(), image));
    std::vector<std::uint8_t> out(32 * 32 * 3);
    ASSERT_TRUE(decode_image(file, 32, out)) << name;
    const std::uint8_t* pixel = &out[(20 * 32 + 10) * 3];
    EXPECT_NEAR(pixel[0], 100, 8) << name;
    EXPECT_NEAR(pixel[1], 160, 8) << name;
    EXPECT_NEAR(pixel[2], 80, 8) << name;
  }
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

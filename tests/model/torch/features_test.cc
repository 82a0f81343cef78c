#include "model/torch/features.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/temp_dir.h"

namespace paceline {
namespace {

TEST(FeatureCacheTest, FindsWhatAnotherHasKept) {
  const TempDir dir;
  FeatureCache one(dir / "features", 3);
  FeatureCache other(dir / "features", 3);
  std::vector<float> row(3);
  EXPECT_FALSE(other.find(7, row));
  one.keep(7, std::vector<float>{1, 2, 3});
  EXPECT_TRUE(other.find(7, row));
  EXPECT_EQ(row, (std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(other.find(6, row));
  EXPECT_EQ(other.found(), 1U);
  EXPECT_EQ(one.found(), 0U);
}

TEST(FeatureCacheTest, GrowsWhileOthersUseIt) {
  const TempDir dir;
  constexpr std::uint64_t kExamples = 400'000;
  FeatureCache early(dir / "features", 2);
  early.keep(0, std::vector<float>{5, 6});
  std::thread writer([&] {
    FeatureCache late(dir / "features", 2);
    for (std::uint64_t i = 1; i < kExamples; i += 1000) {
      late.keep(i, std::vector<float>{static_cast<float>(i), 1});
    }
  });
  writer.join();
  std::vector<float> row(2);
  EXPECT_TRUE(early.find(0, row));
  EXPECT_EQ(row[0], 5);
  EXPECT_TRUE(early.find(399'001, row));
  EXPECT_EQ(row[0], 399'001);
  EXPECT_FALSE(early.find(10'000'000, row));
}

TEST(FeatureCacheTest, WithoutAFileKeepsThemForItself) {
  FeatureCache one({}, 2);
  FeatureCache other({}, 2);
  const std::vector<float> row = {1, 2};
  std::vector<float> found(2);
  one.keep(7, row);
  EXPECT_TRUE(one.find(7, found));
  EXPECT_EQ(found, row);
  EXPECT_FALSE(other.find(7, found));
}

TEST(FeatureCacheTest, OneThatWasNotMadeKeepsNothing) {
  FeatureCache none;
  none.keep(1, std::vector<float>{1});
  std::vector<float> row(1);
  EXPECT_FALSE(none.find(1, row));
}

}  // namespace
}  // namespace paceline

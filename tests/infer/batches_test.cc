#include "infer/batches.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "data/synthetic.h"

namespace paceline {
namespace {

TEST(ForEachBatch, HasEveryExampleOnceAndInOrder) {
  const auto data = make_synthetic({.width = 4}, {0, 1203}, "made up");
  std::vector<std::uint64_t> seen;
  Activity activity("testing");
  std::size_t batches = 0;
  for_each_batch(
      *data,
      [&](const Batch& batch) {
        ++batches;
        seen.insert(seen.end(), batch.examples.begin(), batch.examples.end());
      },
      &activity);
  ASSERT_EQ(seen.size(), 1203U);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
  EXPECT_EQ(batches, 3U);
  EXPECT_EQ(activity.state().done, batches);
}

TEST(ForEachBatch, EndsSoonWhenItIsToldTo) {
  const auto data = make_synthetic({.width = 4}, {0, 1203}, "made up");
  std::atomic<bool> stop = false;
  std::size_t batches = 0;
  const auto stop_at_the_second = [&](const Batch&) { stop = ++batches == 2; };
  EXPECT_THROW(for_each_batch(*data, stop_at_the_second, nullptr, &stop), Interrupted);
  EXPECT_EQ(batches, 2U);
}

TEST(ForEachBatch, FewerOfLargeImagesGoAtOnce) {
  DatasetInfo small;
  small.width = 4;
  DatasetInfo large;
  large.width = 224 * 224 * 3;
  EXPECT_GT(examples_at_once(small), examples_at_once(large));
  large.width = std::size_t{1} << 40;
  EXPECT_EQ(examples_at_once(large), 1U);
}

}  // namespace
}  // namespace paceline

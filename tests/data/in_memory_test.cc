#include "data/in_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace paceline {
namespace {

using testing::ElementsAre;

InMemoryDataset three_rows() {
  Buffer rows(6);
  std::memcpy(rows.data(), "aAbBcC", 6);
  return {"letters", 2, 5, std::move(rows), {4, 0, 2}};
}

TEST(InMemoryDataset, SaysWhatItHolds) {
  const InMemoryDataset dataset = three_rows();
  EXPECT_EQ(dataset.info().name, "letters");
  EXPECT_EQ(dataset.info().examples, 3u);
  EXPECT_EQ(dataset.info().width, 2u);
  EXPECT_EQ(dataset.info().classes, 5);
  EXPECT_EQ(dataset.info().memory_bytes, 6u + 3 * 4);
}

TEST(InMemoryDataset, ReadsInTheOrderAskedFor) {
  const InMemoryDataset dataset = three_rows();
  Batch batch;
  dataset.read(std::vector<std::uint64_t>{2, 0, 2}, batch);
  ASSERT_EQ(batch.size(), 3u);
  EXPECT_EQ(batch.width, 2u);
  EXPECT_EQ(batch.weight, 3.0);
  EXPECT_THAT(batch.labels, ElementsAre(2, 4, 2));
  EXPECT_EQ(std::memcmp(batch.rows[0], "cC", 2), 0);
  EXPECT_EQ(std::memcmp(batch.rows[1], "aA", 2), 0);
}

TEST(InMemoryDataset, PointsAtItsRowsInsteadOfCopying) {
  const InMemoryDataset dataset = three_rows();
  Batch batch;
  dataset.read(std::vector<std::uint64_t>{0, 1, 2}, batch);
  EXPECT_EQ(batch.rows[1], batch.rows[0] + 2);
  EXPECT_EQ(batch.rows[2], batch.rows[0] + 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch.rows[0]) % kBufferAlignment, 0u);
  EXPECT_EQ(batch.storage.size(), 0u);
}

TEST(InMemoryDataset, ForgetsTheBatchBefore) {
  const InMemoryDataset dataset = three_rows();
  Batch batch;
  dataset.read(std::vector<std::uint64_t>{0, 1, 2}, batch);
  dataset.read(std::vector<std::uint64_t>{1}, batch);
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_THAT(batch.labels, ElementsAre(0));
  EXPECT_EQ(batch.weight, 1.0);
  dataset.read({}, batch);
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_EQ(batch.weight, 0.0);
}

TEST(InMemoryDatasetDeathTest, RefusesAnExampleItDoesNotHave) {
  const InMemoryDataset dataset = three_rows();
  Batch batch;
  EXPECT_DEATH(dataset.read(std::vector<std::uint64_t>{3}, batch), "examples");
}

}  // namespace
}  // namespace paceline

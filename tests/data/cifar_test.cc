#include "data/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/data_error.h"
#include "base/file/file.h"
#include "base/temp_dir.h"
#include "data/known_sets.h"

namespace paceline {
namespace {

using testing::HasSubstr;

// Image `number`: colour c of pixel p is (number + 50 c + p) mod 256.
std::uint8_t value(std::size_t number, std::size_t colour, std::size_t pixel) {
  return static_cast<std::uint8_t>(number + 50 * colour + pixel);
}

Pixels sheet_of(std::size_t images) {
  Pixels sheet{1024, static_cast<std::uint32_t>(images), {}};
  for (std::size_t n = 0; n < images; ++n) {
    for (std::size_t p = 0; p < 1024; ++p) {
      for (std::size_t c = 0; c < 3; ++c) sheet.rgb.push_back(value(n, c, p));
    }
  }
  return sheet;
}

class Cifar : public testing::Test {
 protected:
  Cifar() {
    const std::vector<std::uint8_t> labels = {3, 9, 0};
    for (const auto name : kCifarTrain) write(name, cifar_records(sheet_of(3), labels));
    write(kCifarTest, cifar_records(sheet_of(2), std::span(labels).first(2)));
  }
  void write(std::string_view name, const std::string& bytes) {
    write_atomically(dir_ / std::string(name), bytes);
  }
  std::unique_ptr<Dataset> open(Split split, std::uint64_t limit = 0) {
    return open_cifar(dir_.path(), split, limit, "cifar10/x");
  }

  TempDir dir_;
};

TEST_F(Cifar, RecordsAreALabelAndThreePlanes) {
  const std::vector<std::uint8_t> labels = {7, 8};
  const std::string records = cifar_records(sheet_of(2), labels);
  ASSERT_EQ(records.size(), 2 * 3073U);
  EXPECT_EQ(records[0], 7);
  EXPECT_EQ(records[3073], 8);
  EXPECT_EQ(static_cast<std::uint8_t>(records[3073 + 1 + 2 * 1024 + 5]), value(1, 2, 5));
}

TEST_F(Cifar, RowsArePixelByPixel) {
  const auto train = open(Split::kTrain);
  EXPECT_EQ(train->info().examples, 15U);
  EXPECT_EQ(train->info().classes, 10);
  EXPECT_EQ(train->info().image, (ImageShape{32, 32, 3}));
  Batch batch;
  const std::uint64_t examples[] = {4, 0};  // of the second file, and of the first
  train->read(examples, batch);
  EXPECT_EQ(batch.labels, (std::vector<std::int32_t>{9, 3}));
  for (std::size_t p = 0; p < 1024; ++p) {
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(batch.rows[0][3 * p + c], value(1, c, p));
      ASSERT_EQ(batch.rows[1][3 * p + c], value(0, c, p));
    }
  }
  EXPECT_EQ(open(Split::kTest)->info().examples, 2U);
}

TEST_F(Cifar, LimitIsForTrainingOnlyAndEstimatesAreRight) {
  for (const std::uint64_t limit : {0, 4}) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      const auto opened = open(split, limit);
      const DatasetInfo estimate = estimate_cifar(dir_.path(), split, limit, "cifar10/x");
      EXPECT_EQ(estimate.examples, opened->info().examples);
      EXPECT_EQ(estimate.memory_bytes, opened->info().memory_bytes);
      EXPECT_EQ(estimate.image, opened->info().image);
      if (limit == 4) {
        EXPECT_EQ(estimate.examples, split == Split::kTrain ? 4U : 2U);
      }
    }
  }
}

TEST_F(Cifar, FilesThatAreNotAsTheyShouldBeAreNamed) {
  write(kCifarTrain[2], "short");
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }),
              testing::AllOf(HasSubstr("data_batch_3.bin"), HasSubstr("cut off")));
  write(kCifarTrain[2], std::string(3073, '\x0A'));
  EXPECT_THAT(data_error_of([&] { open(Split::kTrain); }), HasSubstr("a label is 10"));
  std::filesystem::remove(dir_ / std::string(kCifarTest));
  EXPECT_THAT(data_error_of([&] { open(Split::kTest); }), HasSubstr("test_batch.bin"));
}

TEST_F(Cifar, ASheetMustFitItsLabels) {
  const std::vector<std::uint8_t> labels(3);
  EXPECT_THAT(data_error_of([&] { cifar_records(sheet_of(2), labels); }),
              HasSubstr("1024 × 2 pixels for 3 labels"));
}

}  // namespace
}  // namespace paceline

#include "data/prepared_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <numeric>
#include <thread>

#include "base/data_error.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "data/order.h"
#include "data/prepared_cache.h"
#include "data/prepared_file.h"

namespace paceline {
namespace {

using testing::EndsWith;

struct Review {
  std::vector<std::int32_t> tokens;
  std::int32_t label = 0;
  bool operator==(const Review&) const = default;
};

class PreparedRows : public testing::Test {
 protected:
  static constexpr std::uint64_t kRows = 5000;  // five blocks, the last a short one
  static constexpr std::size_t kLength = 9;
  static constexpr std::uint64_t kWords = 300;

  PreparedRows() : ids_(kRows * kLength), labels_(kRows) {
    Random random(3);
    for (std::uint64_t row = 0; row < kRows; ++row) {
      Review review;
      labels_[row] = random.below(4) == 0 ? 1 : 0;
      review.label = labels_[row];
      const std::uint64_t length = random.below(kLength + 1);
      for (std::uint64_t i = 0; i < length; ++i) {
        review.tokens.push_back(static_cast<std::int32_t>(1 + random.below(kWords + 3)));
        ids_[row * kLength + i] = static_cast<std::uint16_t>(review.tokens.back());
      }
      reviews_.push_back(std::move(review));
    }
    options_.file = folder_ / "reviews.h5";
    options_.length = kLength;
    options_.order.kind = OrderKind::kBlocks;
  }

  // Of one part, which is all for training.
  void write(const IdLayout& layout) {
    PreparedFile file(options_.file);
    file.version(1).words(std::vector<std::string>(kWords, "word")).layout(layout);
    file.part("train", kLength, ids_, labels_);
    file.part("test", kLength, std::vector<std::uint16_t>(kLength, 4), {1});
  }
  std::unique_ptr<Dataset> open(std::uint64_t limit = 0, Split split = Split::kTrain) const {
    return open_prepared(options_, split, limit, "reviews");
  }
  static Review review_of(const Batch& batch, std::size_t i) {
    const auto tokens = sequence_of(batch.rows[i], 0);
    return {{tokens.begin(), tokens.end()}, batch.labels[i]};
  }
  static std::vector<Review> all_of(const Dataset& dataset) {
    Batch batch;
    batch.examples.resize(dataset.info().examples);
    std::iota(batch.examples.begin(), batch.examples.end(), 0);
    dataset.read(batch.examples, batch);
    std::vector<Review> reviews;
    for (std::size_t i = 0; i < batch.size(); ++i) reviews.push_back(review_of(batch, i));
    return reviews;
  }
  // How many rows of some batches of an epoch are not what they should be.
  int wrong_rows(const Dataset& dataset, const Order& order, std::uint64_t first_batch,
                 std::uint64_t stride) const {
    constexpr std::uint64_t kBatch = 37;
    int wrong = 0;
    Batch batch;
    for (std::uint64_t begin = first_batch * kBatch; begin < kRows; begin += stride * kBatch) {
      const Range positions{begin, std::min(begin + kBatch, kRows)};
      batch.examples.resize(positions.size());
      order.examples(1, positions, batch.examples);
      dataset.read(batch.examples, batch);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        wrong += review_of(batch, i) == reviews_[batch.examples[i]] ? 0 : 1;
      }
    }
    return wrong;
  }

  TempDir folder_;
  std::vector<Review> reviews_;
  std::vector<std::uint16_t> ids_;
  std::vector<std::uint8_t> labels_;
  TextOptions options_;
};

TEST_F(PreparedRows, AreTheSameInEveryLayout) {
  const std::vector<IdLayout> layouts = {
      {.chunk_rows = 1024},
      {.chunk_rows = 100},  // several to a block
      {.chunk_rows = 2000},
      {.chunk_rows = 100'000},  // larger than the table
      {.chunk_rows = 1024, .type = H5T_STD_U32LE},
      {.chunk_rows = 1024, .type = H5T_STD_I64BE},
      {.chunk_rows = 1024, .shuffled = true},
      {.chunk_rows = 1024, .deflated = false},
      {.chunk_rows = 64, .chunk_columns = 4},
      {.chunk_rows = 0},
      {.chunk_rows = 0, .type = H5T_STD_I32LE},
  };
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    write(layouts[i]);
    EXPECT_EQ(all_of(*open()), reviews_) << "layout " << i;
  }
}

TEST_F(PreparedRows, ThatWereNeverWrittenHaveNoWords) {
  write({.chunk_rows = 1024, .written = false});
  for (Review& review : reviews_) review.tokens.clear();
  EXPECT_EQ(all_of(*open()), reviews_);
}

// What stays decoded is chosen for one order, and then read in any.
TEST_F(PreparedRows, AreTheSameInAnyOrderWhateverStaysDecoded) {
  write({.chunk_rows = 1024});
  const auto orders = {OrderOptions{.kind = OrderKind::kFull, .seed = 4},
                       OrderOptions{.kind = OrderKind::kBlocks, .seed = 4, .window = 2},
                       OrderOptions{.kind = OrderKind::kBlocks, .block = 10, .window = 1},
                       OrderOptions{.kind = OrderKind::kSequential}};
  for (const OrderOptions& kept : orders) {
    options_.order = kept;
    const auto dataset = open();
    for (const OrderOptions& order : orders) {
      EXPECT_EQ(wrong_rows(*dataset, Order(order, kRows), 0, 1), 0);
    }
  }
}

TEST_F(PreparedRows, AreReadByManyThreadsAtOnce) {
  for (const IdLayout& layout : {IdLayout{.chunk_rows = 1024}, IdLayout{}}) {
    write(layout);
    options_.order = {.kind = OrderKind::kBlocks, .block = 20, .window = 1};
    const auto dataset = open();
    const Order order({.kind = OrderKind::kFull, .seed = 1}, kRows);
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (std::uint64_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] { wrong += wrong_rows(*dataset, order, i, 4); });
      }
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(PreparedRows, OfAnOrderInBlocksAreDecodedOnceAnEpoch) {
  const IdTable table{.file = "", .name = "", .rows = 100'500, .block_rows = 1024};
  for (const std::uint64_t block : {1024, 1000, 300}) {
    const OrderOptions options{.kind = OrderKind::kBlocks, .seed = 2, .block = block, .window = 4};
    const std::uint64_t most = rows_to_keep(options, table);
    EXPECT_LE(most, 2 * 4 * (block + 1024));
    PreparedCache cache(
        [&](std::uint64_t number) {
          PreparedBlock decoded;
          decoded.starts.resize(table.rows_of(number).size() + 1);
          return decoded;
        },
        most);
    const Order order(options, table.rows);
    std::vector<std::uint64_t> examples(table.rows);
    order.examples(0, {0, table.rows}, examples);
    for (const std::uint64_t example : examples) {
      cache.find(example / table.block_rows);
      ASSERT_LE(cache.rows(), most);
    }
    // Where blocks of examples lie across those of the file, several windows need one of these.
    const std::uint64_t times = block == 1024 ? 1 : 2 + 1024 / block;
    EXPECT_GE(cache.decoded(), table.blocks());
    EXPECT_LE(cache.decoded(), times * table.blocks());
  }
}

TEST_F(PreparedRows, TakeAsMuchMemoryAsTheirOrderNeeds) {
  write({.chunk_rows = 1024});
  options_.order = {.kind = OrderKind::kBlocks, .block = 10, .window = 1};
  const std::uint64_t few = open()->info().memory_bytes;
  EXPECT_EQ(estimate_prepared(options_, Split::kTrain, 0, "reviews").memory_bytes, few);
  options_.order.kind = OrderKind::kFull;
  EXPECT_GT(open()->info().memory_bytes, 2 * few);
}

TEST_F(PreparedRows, OfTheTestPartAreChosenByAHashOfTheirNumbers) {
  PreparedFile(options_.file)
      .version(1)
      .words(std::vector<std::string>(kWords, "word"))
      .layout({.chunk_rows = 1024})
      .part("train", kLength, ids_, labels_);
  options_.test_share = 0.3;
  options_.length = 4;
  options_.cut = TextCut::kStart;
  for (const Split split : {Split::kTrain, Split::kTest}) {
    std::vector<Review> expected;
    for (Review review : reviews_) {
      const std::string_view key(reinterpret_cast<const char*>(review.tokens.data()),
                                 review.tokens.size() * sizeof(std::int32_t));
      if (is_for_test(key, 0.3) != (split == Split::kTest)) continue;
      auto& tokens = review.tokens;
      if (tokens.size() > 4) tokens.erase(tokens.begin(), tokens.end() - 4);
      expected.push_back(std::move(review));
    }
    EXPECT_EQ(all_of(*open(0, split)), expected);
    EXPECT_EQ(estimate_prepared(options_, split, 0, "reviews").examples, expected.size());
    if (split == Split::kTest) continue;
    std::vector<Review> sample;
    Random random(1);
    std::uint64_t limit = 100;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (random.below(expected.size() - i) >= limit) continue;
      --limit;
      sample.push_back(expected[i]);
    }
    EXPECT_EQ(all_of(*open(100)), sample);
    EXPECT_EQ(open(kRows)->info().examples, expected.size());
  }
}

TEST_F(PreparedRows, WeighTheSamePerLabelWhenBalanced) {
  write({.chunk_rows = 1024});
  options_.balanced = true;
  auto dataset = open(1000);
  Batch batch;
  batch.examples.resize(dataset->info().examples);
  std::iota(batch.examples.begin(), batch.examples.end(), 0);
  dataset->read(batch.examples, batch);
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < batch.size(); ++i) {
    sums[static_cast<std::size_t>(batch.labels[i])] += static_cast<double>(batch.weights[i]);
  }
  EXPECT_NEAR(sums[0], 500, 0.1);
  EXPECT_NEAR(sums[1], 500, 0.1);
  EXPECT_NEAR(batch.weight, 1000, 0.1);
  dataset.reset();  // the file is open as long as it is there
  std::ranges::fill(labels_, std::uint8_t{1});
  write({.chunk_rows = 1024});
  EXPECT_EQ(data_error_of([&] { open(); }), "reviews has no example of label 0");
}

TEST_F(PreparedRows, OfADamagedChunkAreNamed) {
  std::uint64_t place = 0;
  {
    PreparedFile file(options_.file);
    file.version(1).words(std::vector<std::string>(kWords, "word")).layout({.chunk_rows = 1024});
    file.part("train", kLength, ids_, labels_).part("test", kLength, ids_, labels_);
    place = file.place_of_chunk("train/ids", 3000);
  }
  {
    std::fstream file(options_.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place + 500));
    file << "damage";
  }
  const auto dataset = open();
  Batch batch;
  dataset->read(std::vector<std::uint64_t>{0, 2047, 3072}, batch);
  EXPECT_EQ(review_of(batch, 1), reviews_[2047]);
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(
        data_error_of([&] {
          dataset->read(std::vector<std::uint64_t>{0, 2500}, batch);
        }),
        EndsWith(
            "reviews.h5: rows 2048 to 3071 of 'train/ids' cannot be read: the file is damaged"));
  }
}

TEST_F(PreparedRows, ThatAreNotReviewsAreNamedWhenTheyAreRead) {
  ids_[2100 * kLength] = 999;
  ids_[4500 * kLength] = 0;
  ids_[4500 * kLength + 1] = 5;
  write({.chunk_rows = 1024});
  const auto dataset = open();
  Batch batch;
  const auto error_at = [&](std::uint64_t row) {
    return data_error_of([&] { dataset->read(std::vector<std::uint64_t>{row}, batch); });
  };
  EXPECT_THAT(error_at(2048),
              EndsWith("row 2100 of 'train/ids' has the number 999, and there are 300 words"));
  EXPECT_THAT(error_at(4499),
              EndsWith("row 4500 of 'train/ids' has words behind its padding, which "
                       "goes to the end"));
}

}  // namespace
}  // namespace paceline

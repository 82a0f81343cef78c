#include "data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

// Its labels are the numbers of the examples. Reading can fail, or wait for the test.
class CountingDataset : public Dataset {
 public:
  explicit CountingDataset(std::uint64_t examples) { info_.examples = examples; }

  const DatasetInfo& info() const override { return info_; }
  void read(std::span<const std::uint64_t> examples, Batch& batch) const override {
    ++reads;
    if (before_read) before_read(examples);
    batch.rows.assign(examples.size(), nullptr);
    batch.labels.assign(examples.begin(), examples.end());
    batch.weight = static_cast<double>(examples.size());
  }

  mutable std::atomic<int> reads = 0;
  std::function<void(std::span<const std::uint64_t>)> before_read;

 private:
  DatasetInfo info_;
};

constexpr std::uint64_t kExamples = 103;
const Grid kGrid{kExamples, 10, 3};

std::vector<std::int32_t> expected_labels(const Order& order, const Share& share) {
  std::vector<std::int32_t> labels;
  const Range positions = kGrid.positions(share);
  for (std::uint64_t i = positions.begin; i < positions.end; ++i) {
    labels.push_back(static_cast<std::int32_t>(order.example(kGrid.epoch_of(share.step), i)));
  }
  return labels;
}

// Predicts the same tiles of the next step, up to step 30.
std::optional<Share> next_step(const Share& share) {
  if (share.step >= 30) return std::nullopt;
  return Share{share.step + 1, share.tiles};
}

class LoaderTest : public testing::TestWithParam<LoaderOptions> {
 protected:
  void expect_share(Loader& loader, const Share& share) {
    const Batch& batch = loader.load(share);
    ASSERT_EQ(batch.labels, expected_labels(order_, share)) << "step " << share.step;
    ASSERT_EQ(batch.weight, static_cast<double>(batch.labels.size()));
  }

  CountingDataset dataset_{kExamples};
  Order order_{{.seed = 3}, kExamples};
};

TEST_P(LoaderTest, GivesEachShareItsExamples) {
  Loader loader(dataset_, order_, kGrid, GetParam(), next_step);
  for (std::uint64_t step = 0; step <= 30; ++step) expect_share(loader, {step, {1, 3}});
}

TEST_P(LoaderTest, FollowsWhereverTheCallerGoes) {
  Loader loader(dataset_, order_, kGrid, GetParam(), next_step);
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t step = random.below(40);
    const std::uint64_t begin = random.below(kGrid.tiles(step) + 1);
    const std::uint64_t run = random.below(3);
    for (std::uint64_t j = 0; j <= run; ++j) {
      const std::uint64_t tiles = kGrid.tiles(step + j);
      expect_share(loader, {step + j, {std::min(begin, tiles), tiles}});
    }
  }
}

TEST_P(LoaderTest, TakesTheSameShareTwice) {
  Loader loader(dataset_, order_, kGrid, GetParam(), next_step);
  for (const std::uint64_t step : {4, 4, 5, 5, 4}) expect_share(loader, kGrid.whole(step));
}

TEST_P(LoaderTest, ThrowsTheReadersErrorForThatShareOnly) {
  const Share bad = kGrid.whole(5);
  const auto bad_examples = expected_labels(order_, bad);
  dataset_.before_read = [&](std::span<const std::uint64_t> examples) {
    if (examples.front() == static_cast<std::uint64_t>(bad_examples.front())) {
      throw DataError("block 5 is corrupt");
    }
  };
  Loader loader(dataset_, order_, kGrid, GetParam(), next_step);
  for (std::uint64_t step = 0; step < 5; ++step) expect_share(loader, kGrid.whole(step));
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      loader.load(bad);
      FAIL() << "share 5 cannot be read";
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "block 5 is corrupt");
    }
  }
  for (std::uint64_t step = 6; step < 10; ++step) expect_share(loader, kGrid.whole(step));
}

TEST_P(LoaderTest, ErrorOfAWrongGuessIsNobodysConcern) {
  const auto bad_examples = expected_labels(order_, kGrid.whole(1));
  dataset_.before_read = [&](std::span<const std::uint64_t> examples) {
    if (examples.front() == static_cast<std::uint64_t>(bad_examples.front())) {
      throw DataError("block 1 is corrupt");
    }
  };
  Loader loader(dataset_, order_, kGrid, GetParam(), next_step);
  for (const std::uint64_t step : {0, 7, 8, 0, 3}) expect_share(loader, kGrid.whole(step));
}

TEST_P(LoaderTest, PeeksAtWhatComesNext) {
  Loader loader(dataset_, order_, kGrid, GetParam(), next_step);
  for (std::uint64_t step = 0; step < 30; ++step) {
    const Share share{step, {0, 2}};
    expect_share(loader, share);
    const Batch& current = loader.load(share);
    const Share next{step + 1, {0, 2}};
    EXPECT_EQ(loader.peek(next).labels, expected_labels(order_, next));
    EXPECT_EQ(loader.peek(next).labels, expected_labels(order_, next));  // again
    EXPECT_EQ(current.labels, expected_labels(order_, share));           // as it was
    if (step % 7 == 3) expect_share(loader, {step, {2, 4}});  // another one comes before it
  }
}

// Whoever looks from outside can tell who is to blame.
TEST_F(LoaderTest, WhileAReadingThreadIsBusyTheCallerOnlyWaits) {
  constexpr LoaderOptions kAhead{1, 1};
  Activity caller("training");
  std::deque<Activity> readers;
  for (std::size_t i = 0; i < reading_threads(kAhead); ++i) readers.emplace_back("reading");
  ASSERT_EQ(readers.size(), 1U);
  std::latch looked(1);
  const auto slow = expected_labels(order_, kGrid.whole(1));
  dataset_.before_read = [&](std::span<const std::uint64_t> examples) {
    if (examples.front() == static_cast<std::uint64_t>(slow.front())) looked.wait();
  };
  Loader loader(dataset_, order_, kGrid, kAhead, next_step, {&caller, &readers});
  loader.load(kGrid.whole(0));
  while (readers[0].state().doing != "reading ahead the data of step 1") std::this_thread::yield();
  auto loaded = std::async(std::launch::async, [&] { return loader.load(kGrid.whole(1)).labels; });
  while (caller.state().kind != Activity::Kind::kWaiting) std::this_thread::yield();
  EXPECT_EQ(caller.state().doing, "waiting for the data of step");
  EXPECT_EQ(readers[0].state().kind, Activity::Kind::kBusy);
  looked.count_down();
  EXPECT_EQ(loaded.get(), slow);
  EXPECT_EQ(caller.state().kind, Activity::Kind::kBusy);
}

INSTANTIATE_TEST_SUITE_P(Depths, LoaderTest,
                         testing::Values(LoaderOptions{0, 1}, LoaderOptions{1, 1},
                                         LoaderOptions{3, 1}, LoaderOptions{4, 3},
                                         LoaderOptions{2, 8}, LoaderOptions{50, 2}),
                         [](const auto& tested) {
                           return "Depth" + std::to_string(tested.param.depth) + "Threads" +
                                  std::to_string(tested.param.threads);
                         });

TEST(Loader, ReadsAheadAsFarAsItsDepth) {
  CountingDataset dataset(kExamples);
  const Order order({}, kExamples);
  std::latch ahead(4);  // the share asked for and three more
  dataset.before_read = [&](auto) {
    if (dataset.reads <= 4) ahead.count_down();
  };
  Loader loader(dataset, order, kGrid, {.depth = 3}, next_step);
  loader.load(kGrid.whole(0));
  ahead.wait();
}

TEST(Loader, ReadsNothingAheadWithoutDepth) {
  CountingDataset dataset(kExamples);
  const Order order({}, kExamples);
  Loader loader(dataset, order, kGrid, {}, nullptr);
  for (std::uint64_t step = 0; step < 5; ++step) loader.load(kGrid.whole(step));
  EXPECT_EQ(dataset.reads, 5);
}

TEST(Loader, ReadsEachPredictedShareOnce) {
  CountingDataset dataset(kExamples);
  const Order order({}, kExamples);
  {
    Loader loader(dataset, order, kGrid, {.depth = 4, .threads = 2}, next_step);
    for (std::uint64_t step = 0; step <= 30; ++step) loader.load({step, {0, 1}});
  }
  EXPECT_EQ(dataset.reads, 31);
}

TEST(Loader, IsDestroyedWhileItReads) {
  CountingDataset dataset(kExamples);
  const Order order({}, kExamples);
  const auto asked_for = std::this_thread::get_id();
  std::promise<void> reading, destroying;
  std::atomic<bool> first = true;
  dataset.before_read = [&, go_on = destroying.get_future().share()](auto) {
    if (std::this_thread::get_id() == asked_for) return;
    if (first.exchange(false)) reading.set_value();
    go_on.wait();
  };
  auto loader = std::make_unique<Loader>(dataset, order, kGrid, LoaderOptions{4, 2}, next_step);
  loader->load(kGrid.whole(0));
  reading.get_future().wait();
  std::thread destroyer([&] { loader.reset(); });
  destroying.set_value();
  destroyer.join();
  EXPECT_EQ(loader, nullptr);
}

TEST(Loader, BatchStaysAsItIsUntilTheNextCall) {
  CountingDataset dataset(kExamples);
  const Order order({}, kExamples);
  Loader loader(dataset, order, kGrid, {.depth = 2, .threads = 2}, next_step);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const Batch& batch = loader.load(kGrid.whole(step));
    for (int i = 0; i < 20; ++i) {
      std::this_thread::yield();
      ASSERT_EQ(batch.labels, expected_labels(order, kGrid.whole(step)));
    }
  }
}

}  // namespace
}  // namespace paceline

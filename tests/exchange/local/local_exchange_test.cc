#include "exchange/local/local_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "exchange/made_up_gradient.h"

namespace paceline {
namespace {

constexpr std::size_t kFloats = 37;
const Grid kGrid{53, 10, 3};  // nothing divides

struct Ended {
  std::vector<float> values;
  std::vector<std::uint64_t> epochs;  // versions at which an epoch ended
  Loss total;
};

Ended run(LocalOptions options) {
  options.grid = kGrid;
  options.groups = {{{0, kFloats}, 1, 1}};
  options.last_version = kGrid.steps_per_epoch() * 3;
  Ended result;
  LocalHub hub(options, Schedule({.rate = 0.1}, kGrid.batch, kGrid.examples, 3), kFloats,
               [&](std::uint64_t version, const Loss& loss) {
                 result.epochs.push_back(version);
                 result.total += loss;
               });
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (std::uint32_t rank = 0; rank < options.workers; ++rank)
    exchanges.push_back(hub.worker(rank));
  std::vector<std::thread> threads;
  for (const auto& exchange : exchanges) {
    threads.emplace_back([&hub, &options, &exchange = *exchange] {
      TreeSum tree(kFloats);
      while (const auto share = exchange.next()) {
        const Range positions = kGrid.positions(*share);
        exchange.begin(static_cast<double>(positions.size()));
        std::ranges::fill(exchange.gradient(), 0.0F);
        tree.clear();
        for (std::uint64_t tile = share->tiles.begin; tile < share->tiles.end; ++tile) {
          std::vector<float> sum(kFloats);
          const Range part = kGrid.positions({share->step, {tile, tile + 1}});
          for (std::uint64_t p = part.begin; p < part.end; ++p) {
            add_gradient(share->step, p, exchange.parameters(), sum);
          }
          add(exchange.gradient(), sum);
          tree.add({tile, tile + 1}, sum);
        }
        // As a backward pass does: uneven ranges, the last first, at one's own speed.
        for (std::size_t end = kFloats; end > 0 && exchange.streams();) {
          const std::size_t begin = end - std::min<std::size_t>(end, 1 + (end + share->step) % 5);
          exchange.ready({begin, end});
          end = begin;
          if ((share->step + share->tiles.begin) % 3 == 0) std::this_thread::yield();
        }
        const Loss loss{1, static_cast<double>(positions.size()), positions.size(), 0};
        exchange.finish(loss, options.deterministic ? &tree : nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  hub.rethrow_failure();
  result.values.assign(hub.values().begin(), hub.values().end());
  return result;
}

TEST(LocalExchange, SynchronousResultDoesNotDependOnTheNumberOfThreads) {
  LocalOptions options;
  options.workers = 1;
  const Ended one = run(options);
  for (const std::uint32_t workers : {2U, 3U, 5U}) {
    options.workers = workers;
    const Ended many = run(options);
    for (std::size_t i = 0; i < kFloats; ++i) {
      EXPECT_NEAR(one.values[i], many.values[i], 1e-5) << workers << " threads, float " << i;
    }
  }
}

// The last step of an epoch has one tile: all but one of the threads have nothing to compute.
TEST(LocalExchange, WhatIsSummedEarlyIsSummedOnce) {
  for (const double clip : {0.0, 0.01}) {
    for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
      LocalOptions options;
      options.rules.clip = clip;
      options.optimizer.kind = kind;
      options.workers = 1;
      const Ended one = run(options);
      options.chunk_floats = 2;
      for (const std::uint32_t workers : {1U, 2U, 3U, 5U}) {
        options.workers = workers;
        for (int round = 0; round < 20; ++round) {
          const Ended many = run(options);
          for (std::size_t i = 0; i < kFloats; ++i) {
            ASSERT_NEAR(one.values[i], many.values[i], 1e-4) << workers << " threads, float " << i;
          }
        }
      }
    }
  }
}

TEST(LocalExchange, DeterministicResultHasTheSameBits) {
  LocalOptions options;
  options.deterministic = true;
  options.optimizer.kind = OptimizerKind::kAdam;
  options.workers = 1;
  const Ended one = run(options);
  for (const std::uint32_t workers : {2U, 3U, 5U, 7U}) {
    options.workers = workers;
    EXPECT_EQ(one.values, run(options).values) << workers << " threads";
  }
}

TEST(LocalExchange, EveryEpochEndsOnceWithAllItsExamples) {
  for (const Mode mode : {Mode::kSync, Mode::kAsync}) {
    LocalOptions options;
    options.mode = mode;
    options.workers = 3;
    const Ended result = run(options);
    const std::uint64_t per_epoch = kGrid.steps_per_epoch();
    EXPECT_THAT(result.epochs, ::testing::ElementsAre(per_epoch, 2 * per_epoch, 3 * per_epoch));
    EXPECT_EQ(result.total.examples, 3 * kGrid.examples);
  }
}

TEST(LocalExchange, AsynchronousWithOneThreadEqualsSynchronous) {
  LocalOptions options;
  options.workers = 1;
  const Ended sync = run(options);
  options.mode = Mode::kAsync;
  const Ended async = run(options);
  for (std::size_t i = 0; i < kFloats; ++i) EXPECT_NEAR(sync.values[i], async.values[i], 1e-5);
}

TEST(LocalExchange, AFailureInOneThreadEndsAll) {
  LocalOptions options;
  options.grid = kGrid;
  options.groups = {{{0, kFloats}, 1, 1}};
  options.workers = 3;
  options.last_version = 1000;
  LocalHub hub(options, Schedule({}, kGrid.batch, kGrid.examples, 1), kFloats,
               [](std::uint64_t, const Loss&) { throw DataError("the disk is full"); });
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (std::uint32_t rank = 0; rank < 3; ++rank) exchanges.push_back(hub.worker(rank));
  std::vector<std::thread> threads;
  for (const auto& exchange : exchanges) {
    threads.emplace_back([&exchange = *exchange] {
      while (const auto share = exchange.next()) {
        std::ranges::fill(exchange.gradient(), 0.0F);
        exchange.finish({1, 1, 1, 0});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THROW(hub.rethrow_failure(), DataError);
}

TEST(LocalExchange, AGradientThatIsNotFiniteStopsOrIsSkipped) {
  for (const Nonfinite rule : {Nonfinite::kStop, Nonfinite::kSkip}) {
    LocalOptions options;
    options.grid = kGrid;
    options.groups = {{{0, kFloats}, 1, 1}};
    options.rules.nonfinite = rule;
    options.last_version = 2;
    LocalHub hub(options, Schedule({.rate = 1}, kGrid.batch, kGrid.examples, 1), kFloats,
                 [](std::uint64_t, const Loss&) {});
    const auto exchange = hub.worker(0);
    while (const auto share = exchange->next()) {
      std::ranges::fill(exchange->gradient(), share->step == 0 ? NAN : 1.0F);
      exchange->finish({1, 1, 1, 0});
    }
    if (rule == Nonfinite::kStop) {
      EXPECT_THROW(hub.rethrow_failure(), DivergedError);
      EXPECT_EQ(hub.values()[0], 0.0F);
    } else {
      EXPECT_EQ(hub.values()[0], -1.0F);  // only the second step counted
      EXPECT_EQ(hub.version(), 2U);
    }
  }
}

}  // namespace
}  // namespace paceline

#include "exchange/allreduce/allreduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cmath>
#include <functional>
#include <future>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "exchange/allreduce/shared_notes.h"
#include "exchange/made_up_gradient.h"

namespace paceline {
namespace {

constexpr std::size_t kGradientFloats = 1037;
const Grid kRingGrid{53, 10, 3};  // nothing divides
constexpr std::uint64_t kEpochs = 3;

// What all workers of a run do, each in a thread of its own.
struct Worker {
  std::vector<float> values;  // when the exchange has ended
  std::uint64_t version = 0;
  std::uint64_t examples = 0;
  std::uint64_t steps = 0;
  std::string error;
};

AllReduceOptions options_for(const std::vector<std::uint32_t>& weights) {
  AllReduceOptions options;
  options.grid = kRingGrid;
  options.groups = {{{0, kGradientFloats}, 1, 1}};
  options.last_version = kRingGrid.steps_per_epoch() * kEpochs;
  options.bucket_floats = 100;
  options.optimizer.kind = OptimizerKind::kAdam;
  for (std::uint32_t rank = 0; rank < weights.size(); ++rank) {
    options.assignment.entries.push_back({rank, weights[rank]});
  }
  return options;
}

// A part of the vector whose gradient is a product.
const Matrix kMatrix{{300, 300 + 7 * 12}, 7, 12};

float factor(std::uint64_t step, std::uint64_t position, std::uint64_t place) {
  return static_cast<float>(Random(random_bits(step, {position, place})).normal());
}

void multiply(const Matrix& matrix, const Factors& factors, std::span<float> gradient) {
  std::ranges::fill(gradient, 0.0F);
  for (std::size_t row = 0; row < factors.errors.size() / matrix.out; ++row) {
    for (std::size_t i = 0; i < matrix.out; ++i) {
      for (std::size_t j = 0; j < matrix.in; ++j) {
        gradient[i * matrix.in + j] +=
            factors.errors[row * matrix.out + i] * factors.inputs[row * matrix.in + j];
      }
    }
  }
}

// From the back, in pieces that fit no bucket.
void announce(Exchange& exchange, Range floats) {
  for (std::uint64_t end = floats.end; end > floats.begin;) {
    const std::uint64_t begin = end > floats.begin + 61 ? end - 61 : floats.begin;
    exchange.ready({begin, end});
    end = begin;
  }
}

void compute(Exchange& exchange, const Share& share) {
  const Range positions = kRingGrid.positions(share);
  exchange.begin(static_cast<double>(positions.size()));
  exchange.await({0, kGradientFloats});
  std::ranges::fill(exchange.gradient(), 0.0F);
  std::vector<float> errors, inputs;
  for (std::uint64_t p = positions.begin; p < positions.end; ++p) {
    add_gradient(share.step, p, exchange.parameters(), exchange.gradient());
    for (std::uint64_t i = 0; i < kMatrix.out; ++i) errors.push_back(factor(share.step, p, i));
    for (std::uint64_t i = 0; i < kMatrix.in; ++i) inputs.push_back(factor(share.step, p, 99 + i));
  }
  const auto matrix = exchange.gradient().subspan(kMatrix.floats.begin, kMatrix.floats.size());
  multiply(kMatrix, {errors, inputs}, matrix);
  announce(exchange, {kMatrix.floats.end, kGradientFloats});
  if (exchange.wants_factors(kMatrix.floats)) {
    std::ranges::fill(matrix, NAN);  // nobody may look
    exchange.factors_ready(kMatrix.floats, {errors, inputs});
  } else {
    announce(exchange, kMatrix.floats);
  }
  announce(exchange, {0, kMatrix.floats.begin});
  exchange.finish({1, static_cast<double>(positions.size()), positions.size(), 0});
}

Schedule schedule() {
  return Schedule({.rate = 0.1}, kRingGrid.batch, kRingGrid.examples, kEpochs);
}

using Between = std::function<void(std::uint32_t rank, const Share& share, Exchange& exchange)>;

struct Hooks {
  Between before = [](auto&&...) {};  // a share is computed
  Between after = [](auto&&...) {};
  std::function<void(std::uint32_t rank)> product = [](auto) {};  // of factors
  WireFormat wire = WireFormat::kFloat;
};

void work(AllReduceOptions options, std::uint32_t rank, const Hooks& hooks, RingNotes& notes,
          Worker& me) {
  const auto size = static_cast<std::uint32_t>(options.assignment.entries.size());
  Ring ring({rank, size, "127.0.0.1", "worker" + std::to_string(rank), hooks.wire});
  ring.connect(notes);
  options.incarnation = rank;
  options.multiply = [&](const Matrix& matrix, const Factors& factors, std::span<float> gradient) {
    hooks.product(rank);
    multiply(matrix, factors, gradient);
  };
  AllReduce exchange(options, schedule(), ring, Buffer::floats(kGradientFloats),
                     Buffer::floats(2 * kGradientFloats),
                     [&](std::uint64_t, const Loss& loss, bool) {
                       me.examples += loss.examples;
                       ++me.steps;
                     });
  try {
    while (const auto share = exchange.next()) {
      hooks.before(rank, *share, exchange);
      compute(exchange, *share);
      hooks.after(rank, *share, exchange);
    }
  } catch (const std::exception& error) {
    me.error = error.what();
  }
  exchange.halt();
  me.version = exchange.version();
  me.values.assign(exchange.parameters().begin(), exchange.parameters().end());
}

std::vector<Worker> run(const AllReduceOptions& options, const Hooks& hooks = {}) {
  SharedNotes notes;
  std::vector<Worker> workers(options.assignment.entries.size());
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
    threads.emplace_back([&, rank] { work(options, rank, hooks, notes, workers[rank]); });
  }
  for (std::thread& thread : threads) thread.join();
  return workers;
}

TEST(AllReduceTest, TheResultDoesNotDependOnTheCut) {
  const std::vector<Worker> one = run(options_for({1}));
  ASSERT_EQ(one[0].error, "");
  for (const std::vector<std::uint32_t>& weights : std::vector<std::vector<std::uint32_t>>{
           {1, 1}, {1, 3}, {2, 1, 1}, {1, 0, 1}, {1, 1, 1, 1, 1}}) {
    const std::vector<Worker> many = run(options_for(weights));
    for (const Worker& worker : many) {
      ASSERT_EQ(worker.error, "");
      EXPECT_EQ(worker.values, many[0].values) << "workers must hold the same bits";
      EXPECT_EQ(worker.examples, kRingGrid.examples * kEpochs);
    }
    for (std::size_t i = 0; i < kGradientFloats; ++i) {
      ASSERT_NEAR(one[0].values[i], many[0].values[i], 1e-4) << weights.size() << ", float " << i;
    }
  }
}

TEST(AllReduceTest, FactorsGiveTheSameAsTheMatrix) {
  const std::vector<Worker> dense = run(options_for({1}));
  for (const std::vector<std::uint32_t>& weights :
       std::vector<std::vector<std::uint32_t>>{{1}, {1, 3}, {2, 1, 1}, {1, 0, 1}}) {
    AllReduceOptions options = options_for(weights);
    options.factored = {kMatrix};
    const std::vector<Worker> factored = run(options);
    for (const Worker& worker : factored) {
      ASSERT_EQ(worker.error, "");
      EXPECT_EQ(worker.values, factored[0].values) << "workers must hold the same bits";
    }
    for (std::size_t i = 0; i < kGradientFloats; ++i) {
      ASSERT_NEAR(dense[0].values[i], factored[0].values[i], 1e-4)
          << weights.size() << ", float " << i;
    }
  }
}

TEST(AllReduceTest, SixteenBitsOnTheWireAreCloseAndTheSameEverywhere) {
  const std::vector<Worker> whole = run(options_for({1, 1}));
  const std::vector<Worker> halves = run(options_for({1, 1}), {.wire = WireFormat::kBf16});
  ASSERT_EQ(halves[0].error, "");
  EXPECT_EQ(halves[0].values, halves[1].values);
  EXPECT_NE(halves[0].values, whole[0].values);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < kGradientFloats; ++i) {
    difference += std::abs(halves[0].values[i] - whole[0].values[i]);
    size += std::abs(whole[0].values[i]);
  }
  EXPECT_LT(difference, 0.05 * size);
}

TEST(AllReduceTest, ClippingLooksAtTheWholeGradient) {
  AllReduceOptions options = options_for({1, 1});
  options.optimizer.kind = OptimizerKind::kAdam;
  options.rules.clip = 0.5;
  AllReduceOptions alone = options_for({1});
  alone.rules.clip = 0.5;
  const auto two = run(options);
  const auto one = run(alone);
  ASSERT_EQ(two[0].error, "");
  for (std::size_t i = 0; i < kGradientFloats; ++i) {
    ASSERT_NEAR(one[0].values[i], two[0].values[i], 1e-4) << i;
  }
}

TEST(AllReduceTest, AMemberThatLeavesEndsTheOthers) {
  Hooks hooks;
  hooks.before = [](std::uint32_t rank, const Share& share, Exchange&) {
    if (rank == 1 && share.step == 4) throw Error("dies");
  };
  const auto workers = run(options_for({1, 1, 1}), hooks);
  EXPECT_EQ(workers[1].error, "dies");
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_THAT(workers[other].error, ::testing::HasSubstr("has lost the ring of 3 workers"));
    EXPECT_LE(workers[other].steps, 4U);
  }
}

// The gradient is refused because the step before is still being reported; that this is over
// before the share is finished must not matter.
TEST(AllReduceTest, AShareThatIsCutShortMayBeFinished) {
  SharedNotes notes;
  Ring ring({0, 1, "127.0.0.1", "worker0", WireFormat::kFloat});
  std::promise<void> reports, may_go_on;
  AllReduce exchange(options_for({1}), schedule(), ring, Buffer::floats(kGradientFloats),
                     Buffer::floats(2 * kGradientFloats), [&](std::uint64_t, const Loss&, bool) {
                       reports.set_value();
                       may_go_on.get_future().wait();
                     });
  compute(exchange, *exchange.next());
  reports.get_future().wait();
  const Share share = *exchange.next();
  exchange.await({0, kGradientFloats});
  exchange.abort(CommError("the run is stopped"));
  announce(exchange, {0, kGradientFloats});
  may_go_on.set_value();
  exchange.halt();
  exchange.finish({1, 1, kRingGrid.positions(share).size(), 0}, nullptr);
  EXPECT_EQ(exchange.version(), 1U);
}

// Callers tell a run that was interrupted from one that has lost a worker by the exit code.
TEST(AllReduceTest, WhatItIsAbortedWithIsThrownToWhoWaits) {
  SharedNotes notes;
  Ring ring({0, 1, "127.0.0.1", "worker0", WireFormat::kFloat});
  std::promise<void> reports, may_go_on;
  AllReduce exchange(options_for({1}), schedule(), ring, Buffer::floats(kGradientFloats),
                     Buffer::floats(2 * kGradientFloats), [&](std::uint64_t, const Loss&, bool) {
                       reports.set_value();
                       may_go_on.get_future().wait();
                     });
  compute(exchange, *exchange.next());
  reports.get_future().wait();
  const Share share = *exchange.next();
  Error reason(Error("somebody asked"), "interrupted", ExitCode::kInterrupted);
  reason.set_about("worker0");
  exchange.abort(reason);
  exchange.abort(CommError("the run is stopped"));  // the first counts
  may_go_on.set_value();
  exchange.halt();
  exchange.finish({1, 1, kRingGrid.positions(share).size(), 0}, nullptr);
  try {
    exchange.await({0, kGradientFloats});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "interrupted: somebody asked");
    EXPECT_EQ(error.code(), ExitCode::kInterrupted);
    EXPECT_EQ(error.reasons().front().about, "worker0");
    EXPECT_EQ(error.reasons().size(), 2U);
  }
}

// The front of the parameters is a step ahead when the rest of that step fails.
TEST(AllReduceTest, AStepThatFailsLeavesTheParametersOfTheOneBefore) {
  constexpr std::uint64_t kFails = 4;
  AllReduceOptions options = options_for({1, 1});
  options.factored = {kMatrix};
  AllReduceOptions shorter = options;
  shorter.last_version = kFails;
  const std::vector<Worker> before = run(shorter);

  std::barrier both(2);
  std::array<std::promise<void>, 2> ahead;
  std::array<std::uint64_t, 2> products{};
  Hooks hooks;
  hooks.product = [&](std::uint32_t rank) {
    if (products[rank]++ != kFails) return;
    ahead[rank].get_future().wait();
    throw Error("no product");
  };
  hooks.after = [&](std::uint32_t rank, const Share& share, Exchange& exchange) {
    if (share.step != kFails) return;
    exchange.await({0, 100});
    both.arrive_and_wait();
    ahead[rank].set_value();
  };
  const std::vector<Worker> workers = run(options, hooks);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_NE(workers[rank].error, "");
    EXPECT_EQ(workers[rank].version, kFails);
    EXPECT_EQ(workers[rank].values, before[rank].values);
  }
}

// Whoever looks from outside can tell which of the threads hangs.
TEST(AllReduceTest, CarriersSayWhatTheyAreDoing) {
  SharedNotes notes;
  Ring ring({0, 1, "127.0.0.1", "worker0", WireFormat::kFloat});
  AllReduceOptions options = options_for({1});
  options.factored = {kMatrix};
  std::promise<void> begun, may_end;
  options.multiply = [&](const Matrix& matrix, const Factors& factors, std::span<float> gradient) {
    begun.set_value();
    may_end.get_future().wait();
    multiply(matrix, factors, gradient);
  };
  options.last_version = 1;
  AllReduce exchange(options, schedule(), ring, Buffer::floats(kGradientFloats),
                     Buffer::floats(2 * kGradientFloats), [](std::uint64_t, const Loss&, bool) {});
  const auto busy = [&] {
    std::vector<std::string> doing;
    for (const Activity& activity : exchange.activities()) {
      const Activity::State state = activity.state();
      if (state.kind == Activity::Kind::kBusy) doing.push_back(state.doing);
    }
    return doing;
  };
  EXPECT_THAT(busy(), ::testing::IsEmpty());
  compute(exchange, *exchange.next());
  begun.get_future().wait();
  EXPECT_THAT(busy(), ::testing::Contains("multiplying the factors of step 0"));
  may_end.set_value();
  EXPECT_FALSE(exchange.next());
  exchange.halt();
  EXPECT_THAT(busy(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace paceline

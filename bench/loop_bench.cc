// What the training loop costs around the model: `local` exchange, one worker, MNIST.
//
//   loop_bench DIR BATCH STEPS
//
// Runs the real worker loop with SGD and, between its steps, a block of as many that only call
// the model, with the same parameters, on batches which were assembled before. Prints the median
// seconds per step of either, for the pair of blocks with the median difference: a machine that
// changes its speed on the way changes both sides of a pair.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/denormals.h"
#include "data/idx.h"
#include "exchange/local/local_exchange.h"
#include "model/linear/softmax.h"
#include "train/loop.h"

namespace {

using namespace paceline;

constexpr std::uint64_t kBlock = 100;

double median(std::span<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// The median step of each side in one pair of blocks.
struct Pair {
  double loop = 0;
  double bare = 0;
  double difference() const { return loop - bare; }
};

Pair median_pair(std::span<double> loop, std::span<double> bare) {
  std::vector<Pair> pairs;
  for (std::size_t at = 0; at + kBlock <= std::min(loop.size(), bare.size()); at += kBlock) {
    pairs.push_back({median(loop.subspan(at, kBlock)), median(bare.subspan(at, kBlock))});
  }
  if (pairs.empty()) throw std::invalid_argument("STEPS must be 100 or more");
  const auto middle = pairs.begin() + static_cast<std::ptrdiff_t>(pairs.size() / 2);
  std::ranges::nth_element(pairs, middle, {}, &Pair::difference);
  return *middle;
}

// Steps of the model alone, half an epoch away from the loop's, which would otherwise bring the
// images into the cache for them.
class Bare {
 public:
  Bare(const Dataset& dataset, const Grid& grid)
      : model_(dataset.info().width, 10),
        batches_(grid.steps_per_epoch()),
        parameters_(Buffer::floats(model_.layout().size)),
        gradient_(Buffer::floats(model_.layout().size)),
        step_(grid.steps_per_epoch() / 2) {
    std::vector<std::uint64_t> examples(grid.batch);
    for (std::uint64_t step = 0; step < batches_.size(); ++step) {
      std::iota(examples.begin(), examples.end(), grid.positions(step).begin);
      dataset.read(examples, batches_[step]);
    }
  }

  void run(std::uint64_t steps, std::span<const float> parameters) {
    std::ranges::copy(parameters, parameters_.as_floats().begin());
    TimePoint last = Clock::now();
    for (; steps > 0; --steps, ++step_) {
      NoFlow flow;
      model_.gradient(batches_[step_ % batches_.size()], parameters_.as_floats(),
                      gradient_.as_floats(), flow);
      const TimePoint now = Clock::now();
      times.push_back(seconds(now - last));
      last = now;
    }
  }

  std::vector<double> times;

 private:
  SoftmaxRegression model_;
  std::vector<Batch> batches_;
  Buffer parameters_;
  Buffer gradient_;
  std::uint64_t step_;
};

// The times of the loop's steps; after each block of them `between` sees the parameters.
std::vector<double> measure_loop(const Dataset& dataset, const Grid& grid, std::uint64_t steps,
                                 const std::function<void(std::span<const float>)>& between) {
  SoftmaxRegression model(dataset.info().width, 10);
  LocalOptions options;
  options.grid = grid;
  options.groups = {{{0, model.layout().size}, 1, 1}};
  options.last_version = steps;
  LocalHub hub(options, Schedule({.rate = 0.5}, grid.batch, grid.examples, 1), model.layout().size,
               [](std::uint64_t, const Loss&) {});
  const auto exchange = hub.worker(0);
  OrderOptions order;
  order.kind = OrderKind::kSequential;
  LoopCounts counts;
  std::vector<double> times;
  TimePoint last = Clock::now();
  run_worker_loop({dataset, Order(order, grid.examples), grid, model, *exchange, {}, false}, counts,
                  [&](const Share&) {
                    const TimePoint now = Clock::now();
                    times.push_back(seconds(now - last));
                    last = now;
                    if (times.size() % kBlock != 0) return;
                    between(hub.values());
                    last = Clock::now();
                  });
  return times;
}

}  // namespace

int main(int argc, char** argv) try {
  paceline::flush_denormals();  // as the program does
  if (argc != 4) throw std::invalid_argument("usage: loop_bench DIR BATCH STEPS");
  const std::filesystem::path dir = argv[1];
  const auto dataset = open_idx(find_idx(dir, "train-images-idx3-ubyte"),
                                find_idx(dir, "train-labels-idx1-ubyte"), "mnist/train");
  const std::uint64_t batch = std::stoull(argv[2]);
  const std::uint64_t steps = std::stoull(argv[3]);
  const Grid grid{dataset->info().examples / batch * batch, batch, default_tile(batch)};
  Bare bare(*dataset, grid);
  auto loop = measure_loop(*dataset, grid, steps, [&](std::span<const float> parameters) {
    bare.run(kBlock, parameters);
  });
  const Pair pair = median_pair(loop, bare.times);
  std::printf("{\"loop_seconds\": %.9f, \"bare_seconds\": %.9f}\n", pair.loop, pair.bare);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "loop_bench: %s\n", error.what());
  return 1;
}

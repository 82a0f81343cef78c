// What the training loop costs around the model: `local` exchange, one worker, MNIST.
//
//   loop_bench DIR BATCH STEPS loop|bare
//
// `loop` runs the real worker loop with SGD; `bare` only calls the model on batches that
// were assembled before. Prints the median seconds per step.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "base/clock.h"
#include "data/idx.h"
#include "exchange/local/local_exchange.h"
#include "model/linear/softmax.h"
#include "train/loop.h"

namespace {

using namespace paceline;

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double measure_loop(const Dataset& dataset, const Grid& grid, std::uint64_t steps) {
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
                  });
  return median(std::move(times));
}

double measure_bare(const Dataset& dataset, const Grid& grid, std::uint64_t steps) {
  SoftmaxRegression model(dataset.info().width, 10);
  std::vector<Batch> batches(grid.steps_per_epoch());
  std::vector<std::uint64_t> examples(grid.batch);
  for (std::uint64_t step = 0; step < batches.size(); ++step) {
    std::iota(examples.begin(), examples.end(), grid.positions(step).begin);
    dataset.read(examples, batches[step]);
  }
  Buffer parameters = Buffer::floats(model.layout().size);
  Buffer gradient = Buffer::floats(model.layout().size);
  NoFlow flow;
  std::vector<double> times;
  TimePoint last = Clock::now();
  for (std::uint64_t step = 0; step < steps; ++step) {
    model.gradient(batches[step % batches.size()], parameters.as_floats(), gradient.as_floats(),
                   flow);
    const TimePoint now = Clock::now();
    times.push_back(seconds(now - last));
    last = now;
  }
  return median(std::move(times));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::invalid_argument("usage: loop_bench DIR BATCH STEPS loop|bare");
  const std::filesystem::path dir = argv[1];
  const auto dataset = open_idx(find_idx(dir, "train-images-idx3-ubyte"),
                                find_idx(dir, "train-labels-idx1-ubyte"), "mnist/train");
  const std::uint64_t batch = std::stoull(argv[2]);
  const std::uint64_t steps = std::stoull(argv[3]);
  const Grid grid{dataset->info().examples / batch * batch, batch, default_tile(batch)};
  const bool loop = std::string(argv[4]) == "loop";
  std::printf("{\"seconds_per_step\": %.9f}\n",
              loop ? measure_loop(*dataset, grid, steps) : measure_bare(*dataset, grid, steps));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "loop_bench: %s\n", error.what());
  return 1;
}

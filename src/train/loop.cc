#include "train/loop.h"

#include <numeric>

#include "base/error.h"

namespace paceline {
namespace {

// All parameters are here, nobody waits for the gradient of a tile; only the time is told apart.
class TileFlow final : public Flow {
 public:
  explicit TileFlow(PhaseClock& clock) : clock_(clock) {}
  void await(Range) override {}
  void ready(Range) override {}
  void turn() override { clock_.enter(Phase::kBackward); }

 private:
  PhaseClock& clock_;
};

// Tile by tile, summed along the fixed tree, so that the bits do not depend on the cut.
class DeterministicShare {
 public:
  Loss compute(const Share& share, const Batch& batch, const LoopInput& input, PhaseClock& clock) {
    const std::size_t floats = input.exchange.parameters().size();
    tree_.reset(floats);  // of tables, other rows in every share
    gradient_.resize(floats * sizeof(float));
    Loss total;
    TileFlow flow(clock);
    clock.enter(Phase::kWaiting);
    input.exchange.await({0, floats});
    const std::uint64_t first = input.grid.positions(share).begin;
    for (std::uint64_t tile = share.tiles.begin; tile < share.tiles.end; ++tile) {
      clock.enter(Phase::kForward);
      const Range positions = input.grid.positions({share.step, {tile, tile + 1}});
      slice(batch, positions.begin - first, positions.size());
      total +=
          input.model.gradient(tile_, input.exchange.parameters(), gradient_.as_floats(), flow);
      tree_.add({tile, tile + 1}, gradient_.as_floats());
    }
    return total;
  }
  const TreeSum& tree() const { return tree_; }

 private:
  void slice(const Batch& batch, std::uint64_t begin, std::uint64_t count) {
    const auto at = static_cast<std::ptrdiff_t>(begin);
    const auto end = static_cast<std::ptrdiff_t>(begin + count);
    tile_.epoch = batch.epoch;
    tile_.examples.assign(batch.examples.begin() + at, batch.examples.begin() + end);
    tile_.rows.assign(batch.rows.begin() + at, batch.rows.begin() + end);
    tile_.labels.assign(batch.labels.begin() + at, batch.labels.begin() + end);
    tile_.width = batch.width;
    tile_.weight = static_cast<double>(count);
    tile_.weights.clear();
    if (batch.weights.empty()) return;
    tile_.weights.assign(batch.weights.begin() + at, batch.weights.begin() + end);
    tile_.weight = std::accumulate(tile_.weights.begin(), tile_.weights.end(), 0.0);
  }

  TreeSum tree_{0};
  Buffer gradient_;
  Batch tile_;
};

// The exchange as a model sees it, with the time it takes counted apart.
class TimedFlow final : public Flow {
 public:
  TimedFlow(Exchange& exchange, PhaseClock& clock)
      : flow_(exchange), streams_(exchange.streams()), clock_(clock) {}

  void await(Range floats) override {
    if (!streams_) return;
    const Phase before = clock_.enter(Phase::kWaiting);
    flow_.await(floats);
    clock_.enter(before);
  }
  void ready(Range floats) override {
    if (!streams_) return;
    const Phase before = clock_.enter(Phase::kExchange);
    flow_.ready(floats);
    clock_.enter(before);
  }
  void turn() override { clock_.enter(Phase::kBackward); }
  bool wants_factors(Range matrix) const override { return flow_.wants_factors(matrix); }
  void factors_ready(Range matrix, const Factors& factors) override {
    const Phase before = clock_.enter(Phase::kExchange);
    flow_.factors_ready(matrix, factors);
    clock_.enter(before);
  }

 private:
  Flow& flow_;
  bool streams_;
  PhaseClock& clock_;
};

}  // namespace

LoopCounts::LoopCounts(const LoaderOptions& loader) {
  for (std::size_t i = 0; i < reading_threads(loader); ++i) {
    reading.emplace_back("reading ahead " + std::to_string(i));
  }
}

void run_worker_loop(const LoopInput& input, LoopCounts& counts,
                     const std::function<void(const Share&)>& before) {
  Exchange& exchange = input.exchange;
  Loader loader(input.dataset, input.order, input.grid, input.loader,
                [&](const Share& share) { return exchange.after(share); },
                {&counts.activity, counts.reading.empty() ? nullptr : &counts.reading});
  DeterministicShare deterministic;
  PhaseClock clock(counts.times, counts.activity);
  TimedFlow flow(exchange, clock);
  while (const auto share = exchange.next()) {
    try {
      counts.activity.at(share->step);
      if (before) before(*share);
      clock.enter(Phase::kData);
      const Batch& batch = loader.load(*share);
      if (exchange.expects()) {
        exchange.expect(*share, batch);
        const auto next = exchange.after(*share);
        if (next && !next->tiles.empty()) exchange.expect(*next, loader.peek(*next));
      }
      clock.enter(Phase::kWaiting);
      exchange.begin(batch.weight);
      clock.enter(Phase::kForward);
      if (input.deterministic) {
        const Loss loss = deterministic.compute(*share, batch, input, clock);
        clock.enter(Phase::kExchange);
        exchange.finish(loss, &deterministic.tree());
      } else {
        const Loss loss =
            input.model.gradient(batch, exchange.parameters(), exchange.gradient(), flow);
        clock.enter(Phase::kExchange);
        exchange.finish(loss);
      }
      clock.enter(Phase::kWaiting);
      clock.step_done();
      counts.examples.fetch_add(batch.size(), std::memory_order_relaxed);
      counts.shares.fetch_add(1, std::memory_order_relaxed);
    } catch (const ShareSetAside&) {
      // A more urgent share is next; this one comes back.
      clock.enter(Phase::kWaiting);
    }
  }
}

}  // namespace paceline

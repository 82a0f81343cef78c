#include "train/loop.h"

#include <numeric>

#include "base/error.h"

namespace paceline {
namespace {

// Tile by tile, summed along the fixed tree, so that the bits do not depend on the cut.
class DeterministicShare {
 public:
  explicit DeterministicShare(std::size_t floats)
      : tree_(floats), gradient_(Buffer::floats(floats)) {}

  Loss compute(const Share& share, const Batch& batch, const LoopParts& parts) {
    tree_.clear();
    Loss total;
    NoFlow no_flow;
    parts.exchange.await({0, parts.exchange.parameters().size()});
    const std::uint64_t first = parts.grid.positions(share).begin;
    for (std::uint64_t tile = share.tiles.begin; tile < share.tiles.end; ++tile) {
      const Range positions = parts.grid.positions({share.step, {tile, tile + 1}});
      slice(batch, positions.begin - first, positions.size());
      total +=
          parts.model.gradient(tile_, parts.exchange.parameters(), gradient_.as_floats(), no_flow);
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
    if (batch.weights.empty()) return;
    tile_.weights.assign(batch.weights.begin() + at, batch.weights.begin() + end);
    tile_.weight = std::accumulate(tile_.weights.begin(), tile_.weights.end(), 0.0);
  }

  TreeSum tree_;
  Buffer gradient_;
  Batch tile_;
};

}  // namespace

void run_worker_loop(const LoopParts& parts, LoopCounts& counts,
                     const std::function<void(const Share&)>& before) {
  Exchange& exchange = parts.exchange;
  Loader loader(parts.dataset, parts.order, parts.grid, parts.loader,
                [&](const Share& share) { return exchange.after(share); });
  DeterministicShare deterministic(parts.deterministic ? exchange.parameters().size() : 0);
  while (const auto share = exchange.next()) {
    try {
      if (before) before(*share);
      const Batch& batch = loader.load(*share);
      exchange.begin(batch.weight);
      if (parts.deterministic) {
        const Loss loss = deterministic.compute(*share, batch, parts);
        exchange.finish(loss, &deterministic.tree());
      } else {
        exchange.finish(
            parts.model.gradient(batch, exchange.parameters(), exchange.gradient(), exchange));
      }
      counts.examples.fetch_add(batch.size(), std::memory_order_relaxed);
      counts.shares.fetch_add(1, std::memory_order_relaxed);
    } catch (const ShareSetAside&) {
      // A more urgent share is next; this one comes back.
    }
  }
}

Loss evaluate_dataset(Model& model, const Dataset& dataset, std::span<const float> parameters) {
  constexpr std::uint64_t kBatch = 500;
  Loss total;
  Batch batch;
  for (std::uint64_t begin = 0; begin < dataset.info().examples; begin += kBatch) {
    batch.examples.resize(std::min(kBatch, dataset.info().examples - begin));
    std::iota(batch.examples.begin(), batch.examples.end(), begin);
    dataset.read(batch.examples, batch);
    total += model.evaluate(batch, parameters);
  }
  return total;
}

}  // namespace paceline

#include "train/row_traffic.h"

#include <algorithm>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "exchange/row_deal.h"

namespace paceline {
namespace {

constexpr std::uint64_t kMostShares = 16;  // enough for a mean, and read in a moment

// In sync mode a step is dealt to all workers, otherwise one worker has all of it.
Share share_of(const RunConfig& config, const Grid& grid, std::uint64_t step,
               std::uint64_t worker) {
  if (config.mode != Mode::kSync) return grid.whole(step);
  return {step, even_part(grid.tiles(step), config.workers, worker)};
}

double bytes_of(const RunConfig& config, const RowDeal& deal, const Share& share,
                std::span<const Key> keys) {
  std::vector<RowDeal::Part> workload;
  deal.split(keys, workload);
  double bytes = 0;
  for (const RowDeal::Part& part : workload) {
    bytes += static_cast<double>(encode_rows(part.rows).size());
  }
  return bytes + numbers_bytes(config, share) * static_cast<double>(keys.size());
}

}  // namespace

double numbers_bytes(const RunConfig& config, const Share& share) {
  const double number = config.wire == WireFormat::kBf16 ? 2 : 4;
  const std::size_t gradients = config.deterministic ? tree_nodes(share.tiles).size() : 1;
  return number * static_cast<double>(1 + gradients);
}

RowTraffic estimate_row_traffic(const RunConfig& config, const Workload& workload) {
  const auto rows = open_training(config);
  const RowDeal deal = deal_rows(workload);
  const std::uint64_t steps = workload.grid.steps_per_epoch();
  RowTraffic traffic;
  traffic.shares = std::min(kMostShares, steps);
  Batch batch;
  for (std::uint64_t i = 0; i < traffic.shares; ++i) {
    const std::uint64_t step = i * steps / traffic.shares;
    const Share share = share_of(config, workload.grid, step, i % config.workers);
    const Range positions = workload.grid.positions(share);
    batch.examples.resize(positions.size());
    workload.order.examples(0, positions, batch.examples);
    rows->read(batch.examples, batch);
    traffic.rows += static_cast<double>(batch.touched.size());
    traffic.bytes += bytes_of(config, deal, share, batch.touched);
  }
  traffic.rows /= static_cast<double>(traffic.shares);
  traffic.bytes /= static_cast<double>(traffic.shares);
  return traffic;
}

}  // namespace paceline

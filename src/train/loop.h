// The worker's loop, where everything meets: share → batch → gradient → exchange.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "data/loader.h"
#include "data/order.h"
#include "exchange/exchange.h"
#include "model/model.h"
#include "train/phases.h"

namespace paceline {

struct LoopParts {
  const Dataset& dataset;
  const Order& order;
  const Grid& grid;
  Model& model;
  Exchange& exchange;
  LoaderOptions loader;
  bool deterministic = false;
};

// Counts that other threads may read.
struct LoopCounts {
  std::atomic<std::uint64_t> examples = 0;
  std::atomic<std::uint64_t> shares = 0;
  PhaseTimes times;
  Activity activity{"training"};
};

// Runs until the exchange has no more shares. `before` is called with each share before it
// is computed (at the beginning of an epoch, say); it may be empty.
void run_worker_loop(const LoopParts& parts, LoopCounts& counts,
                     const std::function<void(const Share&)>& before = {});

}  // namespace paceline

// The worker's loop, where everything meets: share → batch → gradient → exchange.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

#include "data/loader.h"
#include "data/order.h"
#include "exchange/exchange.h"
#include "model/model.h"
#include "train/phases.h"

namespace paceline {

struct LoopInput {
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
  explicit LoopCounts(const LoaderOptions& loader = {});

  std::atomic<std::uint64_t> examples = 0;
  std::atomic<std::uint64_t> shares = 0;
  PhaseTimes times;
  Activity activity{"training"};
  std::deque<Activity> reading;  // of each thread that reads ahead
};

// `counts` were made for these options of the loader, or for none: then nobody watches its threads.
// Runs until the exchange has no more shares. `before` is called with each share before it
// is computed (at the beginning of an epoch, say); it may be empty.
void run_worker_loop(const LoopInput& input, LoopCounts& counts,
                     const std::function<void(const Share&)>& before = {});

}  // namespace paceline

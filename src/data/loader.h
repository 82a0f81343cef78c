// Shares in, batches out: reads ahead so that the worker does not wait for data.
//
// The caller says which share it will probably ask for next; with depth > 0, threads of
// the loader read it meanwhile. A wrong guess costs only the reading. With depth 0 the
// batch is read when asked for, which is faster for rows that are already in memory.
// One thread calls load(). Errors of the reading threads are thrown by load().
//
// Whoever wants to tell a slow batch from one that hangs gives the threads activities: the caller's
// waits for the reading threads', which are then to blame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "base/activity.h"
#include "data/dataset.h"
#include "data/order.h"
#include "data/share.h"

namespace paceline {

struct LoaderOptions {
  std::size_t depth = 0;    // shares read ahead
  std::size_t threads = 1;  // that read them, when depth > 0
};
std::size_t reading_threads(const LoaderOptions& options);

struct LoaderActivities {
  Activity* caller = nullptr;
  std::deque<Activity>* readers = nullptr;  // as many as reading_threads()
};

class Loader {
 public:
  // `next` predicts the share after a given one, or nothing at the end.
  using Predict = std::function<std::optional<Share>(const Share&)>;

  Loader(const Dataset& dataset, const Order& order, const Grid& grid, LoaderOptions options,
         Predict next, const LoaderActivities& activities = {});
  ~Loader();

  // The batch of `share`; valid until the next call.
  const Batch& load(const Share& share);
  // That of a share which will probably be asked for next; valid until load().
  const Batch& peek(const Share& share);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

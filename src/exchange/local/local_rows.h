// The exchange of threads that learn a table together, step by step: each computes its share from
// the rows that it touches, and the last to be done applies the sum of all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "data/share.h"
#include "exchange/assignment.h"
#include "exchange/exchange.h"
#include "exchange/options.h"
#include "exchange/ps/row_shard.h"

namespace paceline {

struct LocalRowOptions {
  Grid grid;
  StepRules rules;
  std::uint32_t workers = 1;
  std::uint64_t last_version = 0;
};

class LocalRowHub {
 public:
  // Called while all threads stand still. Steps below `version` are applied; the training loss is
  // of the epoch that just ended.
  using EpochDone = std::function<void(std::uint64_t version, const Loss& train)>;
  LocalRowHub(const LocalRowOptions& options, RowShard& table, EpochDone epoch_done);

  std::unique_ptr<Exchange> worker(std::uint32_t rank);
  void stop() { stopping_ = true; }       // from any thread: no further step is begun
  void fail(std::exception_ptr failure);  // from any thread: the others end too
  void rethrow_failure() const;

  std::uint64_t version() const { return version_; }  // from any thread, as are these
  Loss epoch_loss() const;
  std::uint64_t skipped() const { return skipped_; }  // steps that changed nothing

 private:
  class Worker;
  void contribute(Range tiles, Gradient gradient, const Loss& loss);
  bool meet();  // with those who have contributed nothing, too; false: it is over
  void apply();

  LocalRowOptions options_;
  RowShard& table_;
  EpochDone epoch_done_;
  Assignment assignment_;  // the same for the whole run
  std::atomic<std::uint64_t> version_;
  std::atomic<std::uint64_t> skipped_ = 0;
  std::atomic<bool> stopping_ = false;

  std::mutex mutex_;  // guards what follows
  std::condition_variable met_;
  std::uint32_t arrived_ = 0;
  std::uint64_t meetings_ = 0;
  bool over_ = false;
  bool touched_ = false;  // somebody has contributed to the open step
  double weight_ = 0;     // of the open step
  std::exception_ptr failure_;

  mutable std::mutex loss_mutex_;
  Loss epoch_loss_;
};

}  // namespace paceline

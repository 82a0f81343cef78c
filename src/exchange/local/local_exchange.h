// The exchange of threads that share memory: a LocalHub holds the parameters, every worker
// thread has an Exchange made by it.
//
// Synchronous: the threads meet at the end of a step; who is there takes chunk after chunk of the
// vector and sums it over the threads, then applies it. Whoever comes early begins with the chunks
// that the others have announced while they computed. Asynchronous: nobody waits for anybody. A
// thread copies the parameters, computes, and adds its update word by word with relaxed atomic
// operations: updates may interleave and one may be lost to a collision, none is torn (HOGWILD!,
// Niu et al., NIPS 2011). In both modes the threads stand still at the end of an epoch, while one
// of them calls `epoch_done`.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "data/share.h"
#include "exchange/assignment.h"
#include "exchange/chunks.h"
#include "exchange/exchange.h"
#include "exchange/local/doorbell.h"
#include "exchange/options.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "optim/sum.h"

namespace paceline {

struct LocalOptions {
  Mode mode = Mode::kSync;  // or kAsync
  Grid grid;
  StepRules rules;
  std::uint32_t workers = 1;
  OptimizerOptions optimizer;
  std::vector<GroupRange> groups;
  bool deterministic = false;
  std::uint64_t version = 0;
  std::uint64_t last_version = 0;
  std::vector<Range> applied;  // async: steps done, when they are not all those below version
  Duration spin = std::chrono::microseconds(100);       // polling before a wait sleeps
  std::uint64_t chunk_floats = std::uint64_t{1} << 15;  // at most: what one thread sums at a time
};

class LocalHub {
 public:
  // Steps below `version` are applied; the training loss is of the epoch that just ended.
  using EpochDone = std::function<void(std::uint64_t version, const Loss& train)>;
  LocalHub(const LocalOptions& options, const Schedule& schedule, std::uint64_t floats,
           EpochDone epoch_done);
  ~LocalHub();

  std::span<float> values() { return values_.as_floats(); }
  std::span<float> state() { return state_.as_floats(); }

  std::unique_ptr<Exchange> worker(std::uint32_t rank);
  void stop();                            // from any thread: no further step is begun
  void fail(std::exception_ptr failure);  // from any thread: the others end too
  void rethrow_failure() const;

  // When no worker runs: the steps applied. Any time: how many, and this epoch's loss.
  std::vector<Range> applied() const;
  std::uint64_t version() const { return steps_done_.load(std::memory_order_relaxed); }
  Loss epoch_loss() const;
  std::uint64_t skipped() const { return skipped_; }  // steps that changed nothing

 private:
  class Worker;
  class Synchronous;
  class Asynchronous;

  template <typename Work>
  bool meet(Spin& spin, const Work& work);
  void reduce(std::uint64_t step, Spin& spin);
  void expect_contributors(std::uint64_t step);
  std::optional<std::uint32_t> take(std::atomic<std::uint32_t>& begun) const;
  bool announced(std::uint32_t chunk) const;
  void sum_early();
  void sum(std::uint32_t chunk);
  void add_up(std::uint64_t step);
  void merge_trees();
  double decide(const Norm& norm, double weight, std::uint64_t step);
  StepScalars scalars(double weight, double scale, std::uint64_t time,
                      std::uint64_t examples) const;
  void apply_slice(Range floats, const StepScalars& scalars);
  void count(const Loss& loss);
  void end_epoch_if_due(std::uint64_t steps_done);
  std::uint64_t epoch_end(std::uint64_t step) const;

  LocalOptions options_;
  Optimizer optimizer_;
  Schedule schedule_;
  EpochDone epoch_done_;
  Assignment assignment_;  // the same for the whole run
  Buffer values_;
  Buffer state_;
  std::atomic<std::uint64_t> steps_done_;
  std::atomic<std::uint64_t> skipped_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
  Doorbell bell_;             // rung when one of these changes, or meeting_ or limit_
  mutable std::mutex mutex_;  // guards the two below
  std::exception_ptr failure_;
  Loss epoch_loss_;

  // Synchronous: where the threads meet, and what they show each other there.
  std::atomic<std::uint32_t> arrived_ = 0;
  std::atomic<std::uint64_t> meeting_ = 0;
  std::vector<Synchronous*> workers_;
  ChunkMap chunks_;                                    // evenly dealt, if to workers
  std::vector<Norm> norms_;                            // of the chunks
  std::vector<std::atomic<std::uint64_t>> announced_;  // floats of each chunk, over all workers
  std::atomic<std::uint32_t> summed_chunks_ = 0;       // or begun; from the last on
  std::atomic<std::uint32_t> applied_chunks_ = 0;      // or begun
  bool stop_agreed_ = false;                           // all threads end before the same step
  double step_weight_ = 0;
  double step_scale_ = 1;
  std::vector<Synchronous*> contributors_;  // to the step
  std::span<float> summed_;  // the step's gradient: in the first contributor's own, or tree_sum_
  TreeSum tree_;
  Buffer tree_sum_;

  // Asynchronous
  std::atomic<std::uint64_t> next_step_;
  std::atomic<std::uint64_t> limit_;     // steps below it may be begun: the end of the epoch
  std::vector<std::atomic<bool>> done_;  // steps of this epoch
};

}  // namespace paceline

// The exchange of workers that each hold all parameters and sum their gradients over a ring.
//
// A second thread, the carrier, moves buckets while the first one computes: a bucket leaves
// when the backward pass has completed it. Only when all buckets of a step and the step's
// weight and coverage have been summed is the optimizer applied, by every worker to its own
// copy, front first; the next forward pass may begin with what is applied. The sums have the
// same bits on all workers, so their parameters stay the same.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "base/buffer.h"
#include "data/share.h"
#include "exchange/allreduce/buckets.h"
#include "exchange/allreduce/ring.h"
#include "exchange/exchange.h"
#include "exchange/options.h"
#include "exchange/plan.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace paceline {

struct AllReduceOptions {
  Grid grid;
  Plan plan;  // for the whole run
  std::uint32_t incarnation = 0;
  StepRules rules;
  OptimizerOptions optimizer;
  std::vector<GroupRange> groups;
  std::uint64_t version = 0;
  std::uint64_t last_version = 0;
  std::uint64_t bucket_floats = kBucketFloats;
  std::vector<Matrix> factored;  // exchanged as factors, and multiplied by:
  std::function<void(const Matrix&, const Factors&, std::span<float>)> multiply;
};

class AllReduce final : public Exchange {
 public:
  // After every step, on the carrier's thread: the sums of all workers, and whether the step
  // changed anything. The parameters stand still until it returns.
  using StepDone = std::function<void(std::uint64_t version, const Loss& loss, bool skipped)>;

  AllReduce(const AllReduceOptions& options, const Schedule& schedule, Ring& ring, Buffer values,
            Buffer state, StepDone step_done);
  ~AllReduce() override;

  std::span<const float> state() const { return state_.as_floats(); }
  std::uint64_t version() const;  // steps applied
  LinkCounters counters() const { return ring_.counters(); }

  // Ends the carrier; what is being applied is applied to its end. Nothing is called after.
  void halt();

  // From any thread: waits here and on other workers end with CommError(reason).
  void abort(const std::string& reason);

  std::optional<Share> next() override;
  std::optional<Share> after(const Share& share) const override;
  std::span<const float> parameters() const override { return values_.as_floats(); }
  std::span<float> gradient() override { return gradient_.as_floats(); }
  void begin(double weight) override;
  void await(Range floats) override;
  void ready(Range floats) override;
  bool wants_factors(Range matrix) const override;
  void factors_ready(Range matrix, const Factors& factors) override;
  void finish(const Loss& loss, const TreeSum* tree) override;

 private:
  // A matrix whose factors come from all workers, one behind the other in tile order.
  struct Factored {
    Matrix matrix;
    std::vector<float> errors;
    std::vector<float> inputs;
  };

  Share share_of(std::uint64_t step) const;
  std::uint64_t rows_of(std::uint64_t step, std::size_t rank) const;
  Factored* factored(Range matrix);
  void contribute_nothing();
  void make_room(std::uint64_t step);
  void gather(Factored& entry, std::uint32_t tag);
  void carry();
  void carry_step(std::uint64_t step);
  bool wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done);
  double decide(const Norm& sum, double weight, std::uint64_t step) const;
  void apply(double weight, double scale, std::uint64_t step);

  AllReduceOptions options_;
  Optimizer optimizer_;
  Schedule schedule_;
  Ring& ring_;
  StepDone step_done_;
  Buffer values_;
  Buffer state_;
  Buffer gradient_;
  std::vector<Factored> factored_;
  std::vector<std::uint64_t> rows_;  // of each rank, in the step that is computed
  std::uint64_t step_;               // of the thread that computes

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Buckets buckets_;
  std::size_t leaving_ = 0;  // buckets from this one on may leave
  std::optional<Loss> finished_;
  std::uint64_t version_;      // steps that are applied
  std::uint64_t applied_ = 0;  // and floats of the next one
  bool stopping_ = false;
  std::string abort_reason_;
  std::exception_ptr failure_;
  std::thread carrier_;
};

}  // namespace paceline

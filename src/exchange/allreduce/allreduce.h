// The exchange of workers that each hold all parameters and sum their gradients over a ring.
//
// Other threads, the carriers, move buckets while the first one computes: a bucket leaves when
// the backward pass has completed it, and while one is being added up another is on the wire.
// The buckets of the first layers have a lane of their own, since the next forward pass begins
// with them: they do not queue behind larger ones that it needs later, and they are applied as
// soon as they and the step's weight are summed, unless a rule must see the whole step first.
// All others are applied when the whole step is there, front first. Every worker applies the
// optimizer to its own copy; the sums have the same bits on all workers, so the copies stay the
// same.
//
// A run that ends within a step goes back to the parameters before it.
//
// Each carrier says what it is doing: one that waits for the ring or for the thread that computes
// is not to blame, one that adds up, multiplies or applies is busy.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/activity.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/threads.h"
#include "data/share.h"
#include "exchange/allreduce/buckets.h"
#include "exchange/allreduce/overwritten.h"
#include "exchange/allreduce/ring.h"
#include "exchange/assignment.h"
#include "exchange/exchange.h"
#include "exchange/options.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace paceline {

struct AllReduceOptions {
  Grid grid;
  Assignment assignment;  // for the whole run
  std::uint32_t incarnation = 0;
  StepRules rules;
  OptimizerOptions optimizer;
  std::vector<GroupRange> groups;
  std::uint64_t version = 0;
  std::uint64_t last_version = 0;
  std::uint64_t bucket_floats = kBucketFloats;
  // The most that is applied before the step is complete; what it was before is kept until then.
  std::uint64_t early_floats = std::uint64_t{1} << 23;
  std::vector<Matrix> factored;  // exchanged as factors, and multiplied by:
  std::function<void(const Matrix&, const Factors&, std::span<float>)> multiply;
};

class AllReduce final : public Exchange {
 public:
  // After every step, on a carrier's thread: the sums of all workers, and whether the step
  // changed anything. The parameters stand still until it returns.
  using StepDone = std::function<void(std::uint64_t version, const Loss& loss, bool skipped)>;

  AllReduce(const AllReduceOptions& options, const Schedule& schedule, Ring& ring, Buffer values,
            Buffer state, StepDone step_done);
  ~AllReduce() override;

  std::span<const float> state() const { return state_.as_floats(); }
  std::uint64_t version() const;  // steps applied
  LinkCounters counters() const { return ring_.counters(); }
  const std::deque<Activity>& activities() const { return activities_; }  // of the carriers

  // Ends the carriers. Parameters and state are then those of version(), and may be taken.
  void halt();
  std::pair<Buffer, Buffer> take() { return {std::move(values_), std::move(state_)}; }

  // From any thread: waits here end with an Error that says the same, with the same exit code;
  // those on other workers with CommError. The first counts.
  void abort(const Error& reason);

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

  // Buckets that leave one after the other, from the back.
  struct Lane {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t next = 0;  // one above the bucket that leaves next
  };

  Share share_of(std::uint64_t step) const;
  std::uint64_t rows_of(std::uint64_t step, std::size_t rank) const;
  const Factored* find_factored(Range matrix) const;
  Factored* find_factored(Range matrix);
  void contribute_nothing();
  void make_room(std::uint64_t step);
  void gather(Factored& entry, std::uint32_t tag, Activity& activity);
  bool wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done);
  bool ended() const;  // the exchange has come to an end, good or bad; with mutex_
  void fail() const;

  std::size_t count_early() const;
  void start_carriers();
  void start_carrier(const char* name, std::function<void(Activity&)> work);
  std::optional<std::size_t> take(Lane& lane, bool until_step_ends, Activity& activity);
  void carry(std::size_t bucket, Activity& activity);
  void carry_front(std::uint64_t step, Activity& activity);
  void carry_step(std::uint64_t step, Activity& activity);
  void agree_on_weight(std::uint64_t step, Activity& activity);
  Loss sum_up(std::uint64_t step, Activity& activity);
  Norm norm_of(Range buckets) const;
  double decide(const Norm& sum, double weight, std::uint64_t step) const;
  void apply(Range buckets, double weight, double scale, std::uint64_t step);
  void settle();

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
  Overwritten overwritten_;
  std::deque<Activity> activities_;
  std::uint64_t step_;  // of the thread that computes

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  Buckets buckets_;
  std::size_t leaving_;           // buckets from this one on may leave
  Lane front_;                    // applied when all of it is summed
  Lane back_;                     // applied when all of the step is
  std::size_t summed_ = 0;        // buckets of this step
  std::vector<Norm> norms_;       // of these
  std::optional<double> begun_;   // weight of this worker's share, until it is summed
  std::optional<double> weight_;  // of the step
  std::optional<Loss> finished_;
  std::uint64_t version_;      // steps that are applied
  std::uint64_t settled_;      // and reported
  std::uint64_t applied_ = 0;  // floats of the next one
  bool stopping_ = false;
  std::optional<Error> abort_reason_;
  std::exception_ptr failure_;
  Threads carriers_;
};

}  // namespace paceline

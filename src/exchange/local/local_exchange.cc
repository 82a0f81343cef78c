#include "exchange/local/local_exchange.h"

#include <algorithm>

#include "base/error.h"
#include "exchange/local/workers.h"

namespace paceline {

LocalHub::LocalHub(const LocalOptions& options, const Schedule& schedule, std::uint64_t floats,
                   EpochDone epoch_done)
    : options_(options),
      optimizer_(options.optimizer),
      schedule_(schedule),
      epoch_done_(std::move(epoch_done)),
      assignment_{1, 0, {}},
      values_(Buffer::floats(floats)),
      state_(Buffer::floats(floats * optimizer_.slots())),
      steps_done_(options.version),
      workers_(options.workers),
      chunks_(floats, options.workers, options.chunk_floats),
      norms_(chunks_.chunks()),
      announced_(chunks_.chunks()),
      tree_(floats),
      tree_sum_(Buffer::floats(options.deterministic ? floats : 0)),
      next_step_(options.version),
      limit_(epoch_end(options.version)),
      done_(options.grid.steps_per_epoch()) {
  PACELINE_CHECK(options.mode != Mode::kSsp && options.workers > 0);
  for (std::uint32_t rank = 0; rank < options_.workers; ++rank)
    assignment_.entries.push_back({rank, 1});
  if (!options_.applied.empty()) {
    next_step_ = options_.version / done_.size() * done_.size();
    for (const Range& range : options_.applied) {
      for (std::uint64_t step = range.begin; step < range.end; ++step) {
        if (step >= next_step_) done_[step % done_.size()] = true;
      }
    }
  }
}

LocalHub::~LocalHub() = default;

std::unique_ptr<Exchange> LocalHub::worker(std::uint32_t rank) {
  if (options_.mode == Mode::kAsync) return std::make_unique<Asynchronous>(*this, rank);
  auto worker = std::make_unique<Synchronous>(*this, rank);
  workers_.at(rank) = worker.get();
  if (std::ranges::count(workers_, nullptr) == 0) expect_contributors(version());
  return worker;
}

std::uint64_t LocalHub::epoch_end(std::uint64_t step) const {
  const std::uint64_t per_epoch = options_.grid.steps_per_epoch();
  return std::min(options_.last_version, (step / per_epoch + 1) * per_epoch);
}

StepScalars LocalHub::scalars(double weight, double scale, std::uint64_t time,
                              std::uint64_t examples) const {
  const double factor = weight > 0 ? scale * options_.rules.sum_factor / weight : 0;
  return {schedule_.rate(static_cast<double>(examples)), factor, time};
}

double LocalHub::decide(const Norm& norm, double weight, std::uint64_t step) {
  const std::optional<double> scale = options_.rules.scale(norm, weight);
  if (!scale) throw DivergedError(fmt::format("the gradient of step {}", step));
  if (*scale == 0) ++skipped_;
  return *scale;
}

void LocalHub::count(const Loss& loss) {
  const std::lock_guard lock(mutex_);
  epoch_loss_ += loss;
}

void LocalHub::end_epoch_if_due(std::uint64_t steps_done) {
  if (steps_done % options_.grid.steps_per_epoch() != 0) return;
  Loss loss;
  {
    const std::lock_guard lock(mutex_);
    loss = std::exchange(epoch_loss_, {});
  }
  epoch_done_(steps_done, loss);
}

Loss LocalHub::epoch_loss() const {
  const std::lock_guard lock(mutex_);
  return epoch_loss_;
}

void LocalHub::stop() {
  stopping_ = true;
  bell_.ring();
}

void LocalHub::fail(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  failed_ = true;
  bell_.ring();
}

void LocalHub::rethrow_failure() const {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

std::vector<Range> LocalHub::applied() const {
  const std::uint64_t first = version() / done_.size() * done_.size();
  if (options_.mode == Mode::kSync) return {{0, version()}};
  std::vector<Range> ranges;
  if (first > 0) ranges.push_back({0, first});
  for (std::uint64_t step = first; step < first + done_.size(); ++step) {
    if (!done_[step % done_.size()].load(std::memory_order_relaxed)) continue;
    if (!ranges.empty() && ranges.back().end == step) {
      ++ranges.back().end;
    } else {
      ranges.push_back({step, step + 1});
    }
  }
  return ranges;
}

}  // namespace paceline

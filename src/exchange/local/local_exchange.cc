#include "exchange/local/local_exchange.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {
namespace {

// Words that several threads use at once, without locks and without tearing.
void relaxed_copy(std::span<float> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
  }
}

void relaxed_add(std::span<float> to, std::span<const float> before, std::span<const float> after) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::atomic_ref<float> word(to[i]);
    word.store(word.load(std::memory_order_relaxed) + (after[i] - before[i]),
               std::memory_order_relaxed);
  }
}

}  // namespace

// ---- what both kinds of worker share ---------------------------------------------------

class LocalHub::Worker : public Exchange {
 public:
  Worker(LocalHub& hub, std::uint32_t rank)
      : hub_(hub),
        rank_(rank),
        spin_(hub.options_.spin),
        gradient_(Buffer::floats(hub.values().size())) {}

  std::span<float> gradient() override { return gradient_.as_floats(); }
  void begin(double) override {}
  bool streams() const override { return false; }
  void await(Range) override {}
  void ready(Range) override {}

 protected:
  LocalHub& hub_;
  std::uint32_t rank_;
  Spin spin_;
  Buffer gradient_;
};

// ---- synchronous -----------------------------------------------------------------------

class LocalHub::Synchronous final : public Worker {
 public:
  Synchronous(LocalHub& hub, std::uint32_t rank) : Worker(hub, rank), step_(hub.version()) {}

  std::optional<Share> next() override {
    while (step_ < hub_.options_.last_version && !hub_.failed_) {
      if (hub_.stop_agreed_) return std::nullopt;
      const Share share = share_of(step_);
      if (!share.tiles.empty()) return share;
      finish({}, nullptr);
    }
    return std::nullopt;
  }

  std::optional<Share> after(const Share& share) const override {
    if (share.step + 1 >= hub_.options_.last_version) return std::nullopt;
    return share_of(share.step + 1);
  }

  std::span<const float> parameters() const override { return hub_.values_.as_floats(); }

  void finish(const Loss& loss, const TreeSum* tree) override {
    loss_ = loss;
    tree_ = tree;
    hub_.reduce(step_, spin_);
    ++step_;
  }

  // A small model is summed in less time than it takes to announce it.
  bool streams() const override {
    return hub_.options_.workers > 1 && !hub_.options_.deterministic &&
           hub_.chunks_.chunks() > hub_.options_.workers;
  }

  void ready(Range floats) override {
    const Range chunks = hub_.chunks_.overlapping(floats);
    for (std::uint64_t number = chunks.begin; number < chunks.end; ++number) {
      const Range chunk = hub_.chunks_.floats_of(static_cast<std::uint32_t>(number));
      const std::uint64_t count =
          std::min(chunk.end, floats.end) - std::max(chunk.begin, floats.begin);
      hub_.announced_[number].fetch_add(count, std::memory_order_release);
    }
  }

  const Loss& loss() const { return loss_; }
  const TreeSum* tree() const { return tree_; }

 private:
  Share share_of(std::uint64_t step) const {
    return {step, hub_.plan_.tiles_for(rank_, hub_.options_.grid.tiles(step))};
  }

  std::uint64_t step_;
  Loss loss_;
  const TreeSum* tree_ = nullptr;
};

// Everyone waits for everyone; the last to come does `work` first. False: someone failed.
template <typename Work>
bool LocalHub::meet(Spin& spin, const Work& work) {
  const std::uint64_t number = meeting_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == options_.workers) {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
    arrived_.store(0, std::memory_order_relaxed);
    meeting_.store(number + 1, std::memory_order_release);
    bell_.ring();
  } else {
    bell_.wait(spin, [&] { return meeting_.load(std::memory_order_acquire) != number || failed_; });
  }
  return !failed_;
}

// The end of a step: sums, the step-wide scalars, the update.
void LocalHub::reduce(std::uint64_t step, Spin& spin) {
  if (!options_.deterministic) sum_early();
  if (!meet(spin, [&] { add_up(step); })) return;
  if (!options_.deterministic) {
    while (const auto chunk = take(summed_chunks_)) sum(chunks_.chunks() - 1 - *chunk);
    if (!meet(spin, [&] {
          if (!options_.rules.look()) return;
          Norm total;
          for (const Norm& part : norms_) total += part;
          step_scale_ = decide(total, step_weight_, step);
        })) {
      return;
    }
  }
  const StepScalars scalars =
      this->scalars(step_weight_, step_scale_, step + 1, options_.grid.examples_before(step));
  if (step_scale_ != 0) {
    while (const auto chunk = take(applied_chunks_))
      apply_slice(chunks_.floats_of(*chunk), scalars);
  }
  meet(spin, [&] {
    steps_done_.store(step + 1, std::memory_order_relaxed);
    expect_contributors(step + 1);
    end_epoch_if_due(step + 1);
    stop_agreed_ = stopping_;
  });
}

// Before any worker begins the step.
void LocalHub::expect_contributors(std::uint64_t step) {
  contributors_.clear();
  if (step >= options_.last_version) return;
  for (std::uint32_t rank = 0; rank < options_.workers; ++rank) {
    const bool computes = !plan_.tiles_for(rank, options_.grid.tiles(step)).empty();
    if (computes) contributors_.push_back(workers_[rank]);
  }
  summed_ = options_.deterministic ? tree_sum_.as_floats() : contributors_.front()->gradient();
  summed_chunks_.store(0, std::memory_order_relaxed);
  applied_chunks_.store(0, std::memory_order_relaxed);
  if (contributors_.front()->streams()) {
    for (auto& floats : announced_) floats.store(0, std::memory_order_relaxed);
  }
}

// The number of the next chunk that nobody has begun.
std::optional<std::uint32_t> LocalHub::take(std::atomic<std::uint32_t>& begun) const {
  const std::uint32_t chunk = begun.fetch_add(1, std::memory_order_relaxed);
  return chunk < chunks_.chunks() ? std::optional(chunk) : std::nullopt;
}

bool LocalHub::announced(std::uint32_t chunk) const {
  return announced_[chunk].load(std::memory_order_acquire) ==
         contributors_.size() * chunks_.floats_of(chunk).size();
}

// While others still compute: the last layers' gradients have long been final.
void LocalHub::sum_early() {
  if (!contributors_.front()->streams()) return;
  std::uint32_t begun = summed_chunks_.load(std::memory_order_relaxed);
  while (begun < chunks_.chunks() && announced(chunks_.chunks() - 1 - begun)) {
    if (summed_chunks_.compare_exchange_weak(begun, begun + 1, std::memory_order_relaxed)) {
      sum(chunks_.chunks() - 1 - begun);
      begun = summed_chunks_.load(std::memory_order_relaxed);
    }
  }
}

// Into the first contributor's gradient. A chunk is still in the cache when it is measured.
void LocalHub::sum(std::uint32_t chunk) {
  const Range floats = chunks_.floats_of(chunk);
  const auto sum = summed_.subspan(floats.begin, floats.size());
  for (std::size_t i = 1; i < contributors_.size(); ++i) {
    add(sum, contributors_[i]->gradient().subspan(floats.begin, floats.size()));
  }
  if (options_.rules.look()) norms_[chunk] = options_.rules.measure(sum);
}

// Everyone has finished the step.
void LocalHub::add_up(std::uint64_t step) {
  step_weight_ = 0;
  for (const Synchronous* worker : workers_) {
    step_weight_ += worker->loss().weight;
    count(worker->loss());
  }
  step_scale_ = step_weight_ > 0 ? 1 : 0;  // none of its examples could be read
  if (!options_.deterministic) return;
  merge_trees();
  if (options_.rules.look()) {
    step_scale_ = decide(options_.rules.measure(summed_), step_weight_, step);
  }
}

void LocalHub::merge_trees() {
  tree_.clear();
  std::uint64_t tiles = 0;
  for (const Synchronous* worker : contributors_) {
    if (worker->tree() == nullptr) continue;
    for (const auto& [begin, node] : worker->tree()->nodes()) {
      tree_.add(node.first, node.second);
      tiles = std::max(tiles, node.first.end);
    }
  }
  tree_.root(tiles, summed_);
}

void LocalHub::apply_slice(Range slice, const StepScalars& scalars) {
  for (GroupRange group : options_.groups) {
    group.floats.begin = std::max(group.floats.begin, slice.begin);
    group.floats.end = std::min(group.floats.end, slice.end);
    if (group.floats.begin >= group.floats.end) continue;
    optimizer_.apply(scalars, std::span(&group, 1), summed_, std::as_const(values_).as_floats(),
                     values_.as_floats(), std::as_const(state_).as_floats(), state_.as_floats());
  }
}

// ---- asynchronous ----------------------------------------------------------------------

class LocalHub::Asynchronous final : public Worker {
 public:
  Asynchronous(LocalHub& hub, std::uint32_t rank)
      : Worker(hub, rank),
        view_(Buffer::floats(hub.values().size())),
        before_(Buffer::floats(hub.values().size())),
        after_(Buffer::floats(hub.values().size())),
        state_before_(Buffer::floats(hub.state().size())),
        state_after_(Buffer::floats(hub.state().size())) {}

  std::optional<Share> next() override {
    while (true) {
      if (hub_.stopping_ || hub_.failed_) return std::nullopt;
      step_ = hub_.next_step_.fetch_add(1, std::memory_order_relaxed);
      if (step_ >= hub_.options_.last_version) return std::nullopt;
      // The first steps of an epoch wait until the one before is complete.
      hub_.bell_.wait(spin_, [&] {
        return step_ < hub_.limit_.load(std::memory_order_acquire) || hub_.stopping_ ||
               hub_.failed_;
      });
      if (hub_.stopping_ || hub_.failed_) return std::nullopt;
      if (hub_.done_[step_ % hub_.done_.size()].load(std::memory_order_relaxed)) continue;
      relaxed_copy(hub_.values(), view_.as_floats());
      return hub_.options_.grid.whole(step_);
    }
  }

  std::optional<Share> after(const Share&) const override { return std::nullopt; }
  std::span<const float> parameters() const override { return view_.as_floats(); }

  void finish(const Loss& loss, const TreeSum*) override {
    double scale = loss.weight > 0 ? 1 : 0;
    if (hub_.options_.rules.look()) {
      scale = hub_.decide(hub_.options_.rules.measure(gradient_.as_floats()), loss.weight, step_);
    }
    if (scale != 0) update(loss.weight, scale);
    hub_.count(loss);
    hub_.done_[step_ % hub_.done_.size()].store(true, std::memory_order_relaxed);
    const std::uint64_t done = hub_.steps_done_.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (done == hub_.limit_.load(std::memory_order_relaxed)) {
      hub_.end_epoch_if_due(done);
      for (auto& step : hub_.done_) step.store(false, std::memory_order_relaxed);
      hub_.limit_.store(hub_.epoch_end(done), std::memory_order_release);
      hub_.bell_.ring();
    }
  }

 private:
  // The optimizer works on private copies; only the difference touches what is shared.
  void update(double weight, double scale) {
    const std::uint64_t time = hub_.steps_done_.load(std::memory_order_relaxed) + 1;
    relaxed_copy(hub_.values(), before_.as_floats());
    relaxed_copy(hub_.state(), state_before_.as_floats());
    hub_.optimizer_.apply(
        hub_.scalars(weight, scale, time, hub_.options_.grid.examples_before(time - 1)),
        hub_.options_.groups, gradient_.as_floats(), before_.as_floats(), after_.as_floats(),
        state_before_.as_floats(), state_after_.as_floats());
    relaxed_add(hub_.values(), before_.as_floats(), after_.as_floats());
    relaxed_add(hub_.state(), state_before_.as_floats(), state_after_.as_floats());
  }

  std::uint64_t step_ = 0;
  Buffer view_;
  Buffer before_;
  Buffer after_;
  Buffer state_before_;
  Buffer state_after_;
};

// ---- the hub ---------------------------------------------------------------------------

LocalHub::LocalHub(const LocalOptions& options, const Schedule& schedule, std::uint64_t floats,
                   EpochDone epoch_done)
    : options_(options),
      optimizer_(options.optimizer),
      schedule_(schedule),
      epoch_done_(std::move(epoch_done)),
      plan_{1, 0, {}},
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
  for (std::uint32_t rank = 0; rank < options_.workers; ++rank) plan_.entries.push_back({rank, 1});
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

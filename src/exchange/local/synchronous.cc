// The threads that meet at the end of a step.
#include <algorithm>

#include "base/error.h"
#include "exchange/local/workers.h"

namespace paceline {

// ---- a worker --------------------------------------------------------------------------

std::optional<Share> LocalHub::Synchronous::next() {
  while (step_ < hub_.options_.last_version && !hub_.failed_) {
    if (hub_.stop_agreed_) return std::nullopt;
    const Share share = share_of(step_);
    if (!share.tiles.empty()) return share;
    finish({}, nullptr);
  }
  return std::nullopt;
}

std::optional<Share> LocalHub::Synchronous::after(const Share& share) const {
  if (share.step + 1 >= hub_.options_.last_version) return std::nullopt;
  return share_of(share.step + 1);
}

Share LocalHub::Synchronous::share_of(std::uint64_t step) const {
  return {step, hub_.assignment_.tiles_for(rank_, hub_.options_.grid.tiles(step))};
}

void LocalHub::Synchronous::finish(const Loss& loss, const TreeSum* tree) {
  loss_ = loss;
  tree_ = tree;
  hub_.reduce(step_, spin_);
  ++step_;
}

// A small model is summed in less time than it takes to announce it.
bool LocalHub::Synchronous::streams() const {
  return hub_.options_.workers > 1 && !hub_.options_.deterministic &&
         hub_.chunks_.chunks() > hub_.options_.workers;
}

void LocalHub::Synchronous::ready(Range floats) {
  const Range chunks = hub_.chunks_.overlapping(floats);
  for (std::uint64_t number = chunks.begin; number < chunks.end; ++number) {
    const Range chunk = hub_.chunks_.floats_of(static_cast<std::uint32_t>(number));
    const std::uint64_t count =
        std::min(chunk.end, floats.end) - std::max(chunk.begin, floats.begin);
    hub_.announced_[number].fetch_add(count, std::memory_order_release);
  }
}

// ---- a step, which all workers end together --------------------------------------------

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
    const bool computes = !assignment_.tiles_for(rank, options_.grid.tiles(step)).empty();
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

}  // namespace paceline

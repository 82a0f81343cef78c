// The threads that wait for nobody.
#include "exchange/local/workers.h"

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

LocalHub::Asynchronous::Asynchronous(LocalHub& hub, std::uint32_t rank)
    : Worker(hub, rank),
      view_(Buffer::floats(hub.values().size())),
      before_(Buffer::floats(hub.values().size())),
      after_(Buffer::floats(hub.values().size())),
      state_before_(Buffer::floats(hub.state().size())),
      state_after_(Buffer::floats(hub.state().size())) {}

std::optional<Share> LocalHub::Asynchronous::next() {
  while (true) {
    if (hub_.stopping_ || hub_.failed_) return std::nullopt;
    step_ = hub_.next_step_.fetch_add(1, std::memory_order_relaxed);
    if (step_ >= hub_.options_.last_version) return std::nullopt;
    // The first steps of an epoch wait until the one before is complete.
    hub_.bell_.wait(spin_, [&] {
      return step_ < hub_.limit_.load(std::memory_order_acquire) || hub_.stopping_ || hub_.failed_;
    });
    if (hub_.stopping_ || hub_.failed_) return std::nullopt;
    if (hub_.done_[step_ % hub_.done_.size()].load(std::memory_order_relaxed)) continue;
    relaxed_copy(hub_.values(), view_.as_floats());
    return hub_.options_.grid.whole(step_);
  }
}

void LocalHub::Asynchronous::finish(const Loss& loss, const TreeSum*) {
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

// The optimizer works on private copies; only the difference touches what is shared.
void LocalHub::Asynchronous::update(double weight, double scale) {
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

}  // namespace paceline

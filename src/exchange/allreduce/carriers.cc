// What the carriers of AllReduce do.
#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "exchange/allreduce/allreduce.h"
#include "optim/sum.h"

namespace paceline {
namespace {

using Kind = Activity::Kind;
constexpr const char* kSumming = "summing gradients over the ring at step";

}  // namespace

// A rule that may change what a step does must see all of it. One that ends the run need not:
// it ends with the step before.
std::size_t AllReduce::count_early() const {
  if (options_.assignment.entries.size() == 1 || options_.rules.need_whole_step()) return 0;
  const std::uint64_t most = std::min(options_.early_floats, values_.as_floats().size() / 4);
  std::size_t early = 0;
  while (early < buckets_.size() && buckets_.floats(early).end <= most) ++early;
  return early;
}

void AllReduce::start_carriers() {
  if (version_ < options_.last_version) make_room(version_);
  const auto each_step = [this](void (AllReduce::*work)(std::uint64_t, Activity&)) {
    return [this, work](Activity& activity) {
      for (std::uint64_t step = options_.version; step < options_.last_version; ++step) {
        activity.at(step);
        (this->*work)(step, activity);
      }
    };
  };
  start_carrier("carrying steps", each_step(&AllReduce::carry_step));
  start_carrier("carrying buckets", [this](Activity& activity) {
    while (const auto bucket = take(back_, false, activity)) carry(*bucket, activity);
  });
  if (front_.end > 0) start_carrier("carrying the front", each_step(&AllReduce::carry_front));
}

void AllReduce::start_carrier(const char* name, std::function<void(Activity&)> work) {
  Activity& activity = activities_.emplace_back(name);
  carriers_.start(1, [this, &activity, work = std::move(work)](std::size_t) {
    activity.adopt();
    try {
      work(activity);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      changed_.notify_all();
    }
    activity.begin(Kind::kIdle, "");
  });
}

// Waits for a bucket of the lane that may leave. There is none when the exchange has come to an
// end and, `until_step_ends`, when all of the step have left.
std::optional<std::size_t> AllReduce::take(Lane& lane, bool until_step_ends, Activity& activity) {
  activity.begin(Kind::kIdle, "");
  std::unique_lock lock(mutex_);
  const auto over = [&] {
    return version_ == options_.last_version || (until_step_ends && lane.next == lane.begin);
  };
  const auto there = [&] { return lane.next > lane.begin && leaving_ < lane.next; };
  if (!wait(lock, [&] { return there() || over(); }) || !there()) return std::nullopt;
  activity.at(version_);
  return --lane.next;
}

void AllReduce::carry(std::size_t bucket, Activity& activity) {
  activity.begin(Kind::kWaiting, kSumming);
  const Range floats = buckets_.floats(bucket);
  const auto part = gradient_.as_floats().subspan(floats.begin, floats.size());
  const auto tag = static_cast<std::uint32_t>(bucket);
  if (Factored* entry = find_factored(floats)) {
    gather(*entry, tag, activity);
  } else {
    ring_.sum(part, tag);
  }
  activity.begin(Kind::kBusy, "measuring gradients of step");
  const Norm found = options_.rules.look() ? options_.rules.measure(part) : Norm();
  const std::lock_guard lock(mutex_);
  norms_[bucket] = found;
  ++summed_;
  changed_.notify_all();
}

void AllReduce::carry_front(std::uint64_t step, Activity& activity) {
  while (const auto bucket = take(front_, true, activity)) carry(*bucket, activity);
  activity.begin(Kind::kIdle, "");
  double weight = 0;
  {
    std::unique_lock lock(mutex_);
    // The backward pass may read parameters to its end.
    const auto there = [&] {
      return front_.next == 0 && weight_.has_value() && finished_.has_value();
    };
    if (!wait(lock, there)) throw CommError("the ring is closed");
    weight = *std::exchange(weight_, std::nullopt);
  }
  const Range front{0, front_.end};
  const double scale = decide(norm_of(front), weight, step);
  activity.begin(Kind::kBusy, "applying the first layers at step");
  overwritten_.keep(values_.as_floats(), state_.as_floats());
  apply(front, weight, scale, step);
  activity.begin(Kind::kIdle, "");
  std::unique_lock lock(mutex_);
  if (!wait(lock, [&] { return settled_ > step; })) throw CommError("the ring is closed");
}

void AllReduce::carry_step(std::uint64_t step, Activity& activity) {
  if (front_.end > 0) agree_on_weight(step, activity);
  while (const auto bucket = take(back_, true, activity)) carry(*bucket, activity);
  const Loss sums = sum_up(step, activity);
  activity.begin(Kind::kBusy, "applying step");
  const double scale = decide(norm_of({0, buckets_.size()}), sums.weight, step);
  apply({front_.end, buckets_.size()}, sums.weight, scale, step);
  {
    const std::lock_guard lock(mutex_);
    ++version_;
    applied_ = 0;
    overwritten_.forget();
    changed_.notify_all();
  }
  activity.begin(Kind::kWaiting, "waiting until epochs before are tested and saved at step");
  step_done_(step + 1, sums, scale == 0);
  settle();
}

// What must be known before anything of a step is applied.
void AllReduce::agree_on_weight(std::uint64_t step, Activity& activity) {
  activity.begin(Kind::kIdle, "");
  std::array<double, 2> sums{};
  {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [&] { return begun_.has_value(); })) throw CommError("the ring is closed");
    sums = {*std::exchange(begun_, std::nullopt), static_cast<double>(share_of(step).tiles.size())};
    changed_.notify_all();
  }
  activity.begin(Kind::kWaiting, kSumming);
  ring_.sum(std::span<double>(sums), static_cast<std::uint32_t>(buckets_.size()));
  PACELINE_CHECK(sums[1] == static_cast<double>(options_.grid.tiles(step)));
  const std::lock_guard lock(mutex_);
  weight_ = sums[0];
  changed_.notify_all();
}

// When all buckets are summed and those of the front applied.
Loss AllReduce::sum_up(std::uint64_t step, Activity& activity) {
  activity.begin(Kind::kIdle, "");
  Loss loss;
  {
    std::unique_lock lock(mutex_);
    const std::uint64_t front = front_.end > 0 ? buckets_.floats(front_.end - 1).end : 0;
    const auto there = [&] {
      return summed_ == buckets_.size() && finished_.has_value() && applied_ == front;
    };
    if (!wait(lock, there)) throw CommError("the ring is closed");
    loss = *std::exchange(finished_, std::nullopt);
  }
  std::array sums = {loss.weight,
                     loss.sum,
                     static_cast<double>(loss.examples),
                     static_cast<double>(loss.correct),
                     static_cast<double>(loss.predictions),
                     static_cast<double>(share_of(step).tiles.size())};
  activity.begin(Kind::kWaiting, kSumming);
  ring_.sum(std::span<double>(sums), static_cast<std::uint32_t>(buckets_.size()));
  PACELINE_CHECK(sums[5] == static_cast<double>(options_.grid.tiles(step)));
  loss.weight = sums[0];
  loss.sum = sums[1];
  loss.examples = static_cast<std::uint64_t>(sums[2]);
  loss.correct = static_cast<std::uint64_t>(sums[3]);
  loss.predictions = static_cast<std::uint64_t>(sums[4]);
  return loss;
}

Norm AllReduce::norm_of(Range buckets) const {
  Norm sum;
  const std::lock_guard lock(mutex_);
  for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) sum += norms_[bucket];
  return sum;
}

double AllReduce::decide(const Norm& sum, double weight, std::uint64_t step) const {
  if (!options_.rules.look()) return weight > 0 ? 1 : 0;
  const auto scale = options_.rules.scale(sum, weight);
  if (scale) return *scale;
  throw DivergedError(fmt::format("the gradient of step {}", step));
}

// Bucket by bucket: the first layers may be used while the last are still being updated.
void AllReduce::apply(Range buckets, double weight, double scale, std::uint64_t step) {
  const StepScalars scalars{
      schedule_.rate(static_cast<double>(options_.grid.examples_before(step))),
      scale * options_.rules.sum_factor / weight, step + 1};
  for (std::size_t bucket = buckets.begin; bucket < buckets.end; ++bucket) {
    const Range slice = buckets_.floats(bucket);
    for (GroupRange group : options_.groups) {
      group.floats.begin = std::max(group.floats.begin, slice.begin);
      group.floats.end = std::min(group.floats.end, slice.end);
      if (scale == 0 || group.floats.begin >= group.floats.end) continue;
      optimizer_.apply(scalars, std::span(&group, 1), gradient_.as_floats(), values_.as_floats(),
                       values_.as_floats(), state_.as_floats(), state_.as_floats());
    }
    const std::lock_guard lock(mutex_);
    applied_ = slice.end;
    changed_.notify_all();
  }
}

// The next step's buckets may leave.
void AllReduce::settle() {
  const std::lock_guard lock(mutex_);
  if (version_ < options_.last_version) make_room(version_);
  buckets_.clear();
  leaving_ = buckets_.size();
  front_.next = front_.end;
  back_.next = back_.end;
  summed_ = 0;
  settled_ = version_;
  changed_.notify_all();
}

}  // namespace paceline

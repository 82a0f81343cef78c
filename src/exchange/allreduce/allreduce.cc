#include "exchange/allreduce/allreduce.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "optim/sum.h"

namespace paceline {
namespace {

std::vector<Range> ranges_of(const std::vector<Matrix>& matrices) {
  std::vector<Range> ranges;
  for (const Matrix& matrix : matrices) ranges.push_back(matrix.floats);
  return ranges;
}

}  // namespace

AllReduce::AllReduce(const AllReduceOptions& options, const Schedule& schedule, Ring& ring,
                     Buffer values, Buffer state, StepDone step_done)
    : options_(options),
      optimizer_(options.optimizer),
      schedule_(schedule),
      ring_(ring),
      step_done_(std::move(step_done)),
      values_(std::move(values)),
      state_(std::move(state)),
      gradient_(Buffer::floats(values_.as_floats().size())),
      step_(options.version),
      buckets_(values_.as_floats().size(), options.bucket_floats, ranges_of(options.factored)),
      leaving_(buckets_.size()),
      version_(options.version) {
  PACELINE_CHECK(state_.as_floats().size() == optimizer_.slots() * values_.as_floats().size());
  for (const Matrix& matrix : options_.factored) factored_.push_back({matrix, {}, {}});
  carrier_ = std::thread([this] { carry(); });
}

AllReduce::~AllReduce() {
  halt();
}

void AllReduce::halt() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (!carrier_.joinable()) return;
  if (version() < options_.last_version) ring_.close();
  carrier_.join();
}

std::uint64_t AllReduce::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void AllReduce::abort(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (abort_reason_.empty()) abort_reason_ = reason;
    changed_.notify_all();
  }
  ring_.close();
}

// ---- the thread that computes ----------------------------------------------------------

Share AllReduce::share_of(std::uint64_t step) const {
  return {step, options_.plan.tiles_for(options_.incarnation, options_.grid.tiles(step))};
}

std::optional<Share> AllReduce::next() {
  for (; step_ < options_.last_version; contribute_nothing()) {
    const Share share = share_of(step_);
    if (!share.tiles.empty()) return share;
  }
  await({0, values_.as_floats().size()});
  return std::nullopt;
}

std::optional<Share> AllReduce::after(const Share& share) const {
  if (share.step + 1 >= options_.last_version) return std::nullopt;
  return share_of(share.step + 1);
}

// The step before must be applied: its gradients and factors are no longer needed then.
void AllReduce::begin(double) {
  if (factored_.empty()) return;
  await({0, values_.as_floats().size()});
  make_room(step_);
}

// Whoever has no tiles takes part all the same.
void AllReduce::contribute_nothing() {
  const Range all{0, gradient_.as_floats().size()};
  await(all);
  make_room(step_);
  std::fill(gradient_.as_floats().begin(), gradient_.as_floats().end(), 0.0f);
  ready(all);
  finish({}, nullptr);
}

// Throws what ended the carrier; true: done() holds.
bool AllReduce::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done) {
  changed_.wait(lock, [&] { return done() || failure_ || stopping_ || !abort_reason_.empty(); });
  return done();
}

void AllReduce::await(Range floats) {
  std::unique_lock lock(mutex_);
  const bool there = wait(
      lock, [&] { return version_ == step_ || (version_ + 1 == step_ && applied_ >= floats.end); });
  if (there) return;
  if (!abort_reason_.empty()) throw CommError("{}", abort_reason_);
  if (failure_) std::rethrow_exception(failure_);
}

void AllReduce::ready(Range floats) {
  const std::lock_guard lock(mutex_);
  buckets_.ready(floats);
  while (const auto bucket = buckets_.take()) leaving_ = *bucket;
  changed_.notify_all();
}

// ---- factors ---------------------------------------------------------------------------

AllReduce::Factored* AllReduce::factored(Range matrix) {
  const auto found = std::find_if(factored_.begin(), factored_.end(), [&](const Factored& entry) {
    return entry.matrix.floats == matrix;
  });
  return found == factored_.end() ? nullptr : &*found;
}

bool AllReduce::wants_factors(Range matrix) const {
  return const_cast<AllReduce*>(this)->factored(matrix) != nullptr;
}

std::uint64_t AllReduce::rows_of(std::uint64_t step, std::size_t rank) const {
  const Range tiles =
      options_.plan.tiles_for(options_.plan.entries[rank].worker, options_.grid.tiles(step));
  return options_.grid.positions({step, tiles}).size();
}

void AllReduce::make_room(std::uint64_t step) {
  rows_.clear();
  for (std::size_t rank = 0; rank < options_.plan.entries.size(); ++rank) {
    rows_.push_back(rows_of(step, rank));
  }
  const std::uint64_t rows = std::accumulate(rows_.begin(), rows_.end(), std::uint64_t{0});
  for (Factored& entry : factored_) {
    entry.errors.resize(rows * entry.matrix.out);
    entry.inputs.resize(rows * entry.matrix.in);
  }
}

void AllReduce::factors_ready(Range matrix, const Factors& factors) {
  Factored& entry = *factored(matrix);
  std::uint64_t before = 0;
  std::size_t rank = 0;
  for (; options_.plan.entries[rank].worker != options_.incarnation; ++rank) before += rows_[rank];
  PACELINE_CHECK(factors.errors.size() == rows_[rank] * entry.matrix.out);
  PACELINE_CHECK(factors.inputs.size() == rows_[rank] * entry.matrix.in);
  const auto place = [&](std::span<const float> from, std::vector<float>& into,
                         std::uint64_t width) {
    std::copy(from.begin(), from.end(), into.begin() + static_cast<std::ptrdiff_t>(before * width));
  };
  place(factors.errors, entry.errors, entry.matrix.out);
  place(factors.inputs, entry.inputs, entry.matrix.in);
  ready(matrix);
}

// On the carrier's thread.
void AllReduce::gather(Factored& entry, std::uint32_t tag) {
  std::vector<std::size_t> errors, inputs;
  for (const std::uint64_t rows : rows_) {
    errors.push_back(rows * entry.matrix.out);
    inputs.push_back(rows * entry.matrix.in);
  }
  ring_.gather(entry.errors, errors, tag);
  ring_.gather(entry.inputs, inputs, tag);
  const Range floats = entry.matrix.floats;
  options_.multiply(entry.matrix, {entry.errors, entry.inputs},
                    gradient_.as_floats().subspan(floats.begin, floats.size()));
}

// ---- the end of a share ----------------------------------------------------------------

void AllReduce::finish(const Loss& loss, const TreeSum* tree) {
  PACELINE_CHECK(tree == nullptr);
  std::unique_lock lock(mutex_);
  PACELINE_CHECK(buckets_.all_taken());
  finished_ = loss;
  ++step_;
  changed_.notify_all();
}

// ---- the carrier -----------------------------------------------------------------------

void AllReduce::carry() {
  try {
    for (std::uint64_t step = options_.version; step < options_.last_version; ++step) {
      carry_step(step);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void AllReduce::carry_step(std::uint64_t step) {
  const auto ended = [] { throw CommError("the ring is closed"); };
  Norm norm_of_sum;
  for (std::size_t bucket = buckets_.size(); bucket-- > 0;) {
    {
      std::unique_lock lock(mutex_);
      if (!wait(lock, [&] { return leaving_ <= bucket; })) ended();
    }
    const Range floats = buckets_.floats(bucket);
    const auto part = gradient_.as_floats().subspan(floats.begin, floats.size());
    const auto tag = static_cast<std::uint32_t>(bucket);
    if (Factored* entry = factored(floats)) {
      gather(*entry, tag);
    } else {
      ring_.sum(part, tag);
    }
    if (options_.rules.need_whole_step()) norm_of_sum += norm(part);
  }
  Loss mine;
  {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [&] { return finished_.has_value(); })) ended();
    mine = *std::exchange(finished_, std::nullopt);
    buckets_.clear();
    leaving_ = buckets_.size();
  }
  const double tiles = static_cast<double>(share_of(step).tiles.size());
  std::array sums = {mine.weight,
                     mine.sum,
                     static_cast<double>(mine.examples),
                     static_cast<double>(mine.correct),
                     static_cast<double>(mine.predictions),
                     tiles};
  ring_.sum(std::span<double>(sums), static_cast<std::uint32_t>(buckets_.size()));
  PACELINE_CHECK(sums[5] == static_cast<double>(options_.grid.tiles(step)));
  const double scale = decide(norm_of_sum, sums[0], step);
  apply(sums[0], scale, step);
  Loss all;
  all.weight = sums[0];
  all.sum = sums[1];
  all.examples = static_cast<std::uint64_t>(sums[2]);
  all.correct = static_cast<std::uint64_t>(sums[3]);
  all.predictions = static_cast<std::uint64_t>(sums[4]);
  step_done_(step + 1, all, scale == 0);
}

double AllReduce::decide(const Norm& sum, double weight, std::uint64_t step) const {
  if (!options_.rules.need_whole_step()) return 1;
  const auto scale = options_.rules.scale(sum, weight);
  if (scale) return *scale;
  throw Error(
      fmt::format("the gradient of step {} is not finite (NaN or infinity). Lower "
                  "--rate, set --clip, or choose --nonfinite skip",
                  step));
}

// Bucket by bucket: the first layers may be used while the last are still being updated.
void AllReduce::apply(double weight, double scale, std::uint64_t step) {
  const StepScalars scalars{
      schedule_.rate(static_cast<double>(options_.grid.examples_before(step))),
      scale * options_.rules.sum_factor / weight, step + 1};
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
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
    if (bucket + 1 == buckets_.size()) {
      ++version_;
      applied_ = 0;
    }
    changed_.notify_all();
  }
}

}  // namespace paceline

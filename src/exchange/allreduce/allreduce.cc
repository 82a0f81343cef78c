#include "exchange/allreduce/allreduce.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

std::vector<Range> ranges_of(const std::vector<Matrix>& matrices) {
  std::vector<Range> ranges;
  ranges.reserve(matrices.size());
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
      overwritten_(0, 0, 0),
      step_(options.version),
      buckets_(values_.as_floats().size(), options.bucket_floats, ranges_of(options.factored)),
      leaving_(buckets_.size()),
      norms_(buckets_.size()),
      version_(options.version),
      settled_(options.version) {
  PACELINE_CHECK(state_.as_floats().size() == optimizer_.slots() * values_.as_floats().size());
  for (const Matrix& matrix : options_.factored) factored_.push_back({matrix, {}, {}});
  const std::size_t early = count_early();
  front_ = {0, early, early};
  back_ = {early, buckets_.size(), buckets_.size()};
  if (early > 0) {
    overwritten_ =
        Overwritten(buckets_.floats(early - 1).end, values_.as_floats().size(), optimizer_.slots());
  }
  try {
    start_carriers();
  } catch (...) {
    halt();  // those that were started
    throw;
  }
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
  if (version() < options_.last_version) ring_.close();
  carriers_.join();
  overwritten_.restore(values_.as_floats(), state_.as_floats());
}

std::uint64_t AllReduce::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void AllReduce::abort(const Error& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!abort_reason_) abort_reason_ = reason;
    changed_.notify_all();
  }
  ring_.close();
}

// ---- the thread that computes ----------------------------------------------------------

Share AllReduce::share_of(std::uint64_t step) const {
  return {step, options_.assignment.tiles_for(options_.incarnation, options_.grid.tiles(step))};
}

std::optional<Share> AllReduce::next() {
  for (; step_ < options_.last_version; contribute_nothing()) {
    const Share share = share_of(step_);
    if (!share.tiles.empty()) return share;
  }
  std::unique_lock lock(mutex_);
  if (!wait(lock, [&] { return version_ == step_; })) fail();
  return std::nullopt;
}

std::optional<Share> AllReduce::after(const Share& share) const {
  if (share.step + 1 >= options_.last_version) return std::nullopt;
  return share_of(share.step + 1);
}

void AllReduce::begin(double weight) {
  if (front_.end == 0) return;
  std::unique_lock lock(mutex_);
  if (!wait(lock, [&] { return !begun_.has_value(); })) fail();
  begun_ = weight;
  changed_.notify_all();
}

// Whoever has no tiles takes part all the same.
void AllReduce::contribute_nothing() {
  const Range all{0, gradient_.as_floats().size()};
  begin(0);
  await(all);
  std::fill(gradient_.as_floats().begin(), gradient_.as_floats().end(), 0.0f);
  ready(all);
  finish({}, nullptr);
}

// Whether done() holds: it does not when the exchange has come to an end.
bool AllReduce::wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done) {
  changed_.wait(lock, [&] { return done() || ended(); });
  return done();
}

bool AllReduce::ended() const {
  return failure_ || stopping_ || abort_reason_;
}

// Throws what ended the exchange.
void AllReduce::fail() const {
  if (abort_reason_) throw Error(*abort_reason_);
  if (failure_) std::rethrow_exception(failure_);
}

void AllReduce::await(Range floats) {
  std::unique_lock lock(mutex_);
  const auto there = [&] {
    return version_ == step_ || (version_ + 1 == step_ && applied_ >= floats.end);
  };
  if (!wait(lock, there)) fail();
}

// While a step is being reported, nothing of the next may leave. The carriers' failure is for
// who waits for their work.
void AllReduce::ready(Range floats) {
  std::unique_lock lock(mutex_);
  if (!wait(lock, [&] { return settled_ == step_; })) return;
  buckets_.ready(floats);
  while (const auto bucket = buckets_.take()) leaving_ = *bucket;
  changed_.notify_all();
}

// ---- factors ---------------------------------------------------------------------------

const AllReduce::Factored* AllReduce::find_factored(Range matrix) const {
  const auto found = std::find_if(factored_.begin(), factored_.end(), [&](const Factored& entry) {
    return entry.matrix.floats == matrix;
  });
  return found == factored_.end() ? nullptr : &*found;
}

AllReduce::Factored* AllReduce::find_factored(Range matrix) {
  return const_cast<Factored*>(std::as_const(*this).find_factored(matrix));
}

bool AllReduce::wants_factors(Range matrix) const {
  return find_factored(matrix) != nullptr;
}

std::uint64_t AllReduce::rows_of(std::uint64_t step, std::size_t rank) const {
  const Range tiles = options_.assignment.tiles_for(options_.assignment.entries[rank].worker,
                                                    options_.grid.tiles(step));
  return options_.grid.positions({step, tiles}).size();
}

void AllReduce::make_room(std::uint64_t step) {
  rows_.clear();
  for (std::size_t rank = 0; rank < options_.assignment.entries.size(); ++rank) {
    rows_.push_back(rows_of(step, rank));
  }
  const std::uint64_t rows = std::accumulate(rows_.begin(), rows_.end(), std::uint64_t{0});
  for (Factored& entry : factored_) {
    entry.errors.resize(rows * entry.matrix.out);
    entry.inputs.resize(rows * entry.matrix.in);
  }
}

void AllReduce::factors_ready(Range matrix, const Factors& factors) {
  {
    std::unique_lock lock(mutex_);
    if (!wait(lock, [&] { return settled_ == step_; })) return;
  }
  Factored& entry = *find_factored(matrix);
  std::uint64_t before = 0;
  std::size_t rank = 0;
  for (; options_.assignment.entries[rank].worker != options_.incarnation; ++rank)
    before += rows_[rank];
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

// On a carrier's thread.
void AllReduce::gather(Factored& entry, std::uint32_t tag, Activity& activity) {
  std::vector<std::size_t> errors, inputs;
  for (const std::uint64_t rows : rows_) {
    errors.push_back(rows * entry.matrix.out);
    inputs.push_back(rows * entry.matrix.in);
  }
  ring_.gather(entry.errors, errors, tag);
  ring_.gather(entry.inputs, inputs, tag);
  activity.begin(Activity::Kind::kBusy, "multiplying the factors of step");
  const Range floats = entry.matrix.floats;
  options_.multiply(entry.matrix, {entry.errors, entry.inputs},
                    gradient_.as_floats().subspan(floats.begin, floats.size()));
}

// ---- the end of a share ----------------------------------------------------------------

void AllReduce::finish(const Loss& loss, const TreeSum* tree) {
  PACELINE_CHECK(tree == nullptr);
  std::unique_lock lock(mutex_);
  PACELINE_CHECK(buckets_.all_taken() || ended());  // then ready() may have taken nothing
  finished_ = loss;
  ++step_;
  changed_.notify_all();
}

}  // namespace paceline

#include "exchange/local/local_rows.h"

#include "base/error.h"
#include "exchange/tree_sum.h"

namespace paceline {

class LocalRowHub::Worker final : public Exchange {
 public:
  Worker(LocalRowHub& hub, std::uint32_t rank) : hub_(hub), rank_(rank), step_(hub.version()) {}

  std::optional<Share> next() override {
    if (begun_ && !hub_.meet()) return std::nullopt;
    for (begun_ = true; step_ < hub_.options_.last_version; ++step_) {
      const Share share = share_of(step_);
      if (!share.tiles.empty()) {
        ++step_;
        return share;
      }
      if (!hub_.meet()) break;
    }
    return std::nullopt;
  }
  std::optional<Share> after(const Share& share) const override {
    if (share.step + 1 >= hub_.options_.last_version) return std::nullopt;
    return share_of(share.step + 1);
  }

  bool expects() const override { return true; }
  void expect(const Share& share, const Batch& batch) override {
    if (share.step != hub_.version()) return;  // rows of the next step are not there yet
    share_ = share;
    // The hub has let go of what it was given when the step before was applied.
    if (!rows_ || rows_.use_count() > 1) rows_ = std::make_shared<std::vector<std::uint32_t>>();
    rows_->assign(batch.touched.begin(), batch.touched.end());
    values_ = hub_.table_.weights(hub_.version(), *rows_);
    own_buffer(gradient_, rows_->size() * sizeof(float));
  }
  void begin(double) override {}
  bool streams() const override { return false; }
  void await(Range) override {}
  void ready(Range) override {}
  std::span<const float> parameters() const override { return values_; }
  std::span<float> gradient() override { return gradient_->as_floats(); }

  void finish(const Loss& loss, const TreeSum* tree) override {
    if (tree != nullptr) {
      own_buffer(gradient_, tree->nodes().size() * rows_->size() * sizeof(float));
      float* out = gradient_->as_floats().data();
      for (const auto& [begin, node] : tree->nodes()) out = std::ranges::copy(node.second, out).out;
    }
    hub_.contribute(share_.tiles, {gradient_, rows_}, loss);
  }

 private:
  Share share_of(std::uint64_t step) const {
    return {step, hub_.assignment_.tiles_for(rank_, hub_.options_.grid.tiles(step))};
  }

  LocalRowHub& hub_;
  std::uint32_t rank_;
  std::uint64_t step_;  // to be computed next
  bool begun_ = false;
  Share share_;
  std::shared_ptr<std::vector<std::uint32_t>> rows_;
  std::vector<float> values_;
  std::shared_ptr<Buffer> gradient_;
};

LocalRowHub::LocalRowHub(const LocalRowOptions& options, RowShard& table, EpochDone epoch_done)
    : options_(options),
      table_(table),
      epoch_done_(std::move(epoch_done)),
      version_(table.version()) {
  for (std::uint32_t rank = 0; rank < options_.workers; ++rank)
    assignment_.entries.push_back({rank, 1});
}

std::unique_ptr<Exchange> LocalRowHub::worker(std::uint32_t rank) {
  return std::make_unique<Worker>(*this, rank);
}

void LocalRowHub::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  over_ = true;
  met_.notify_all();
}

void LocalRowHub::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

Loss LocalRowHub::epoch_loss() const {
  const std::lock_guard lock(loss_mutex_);
  return epoch_loss_;
}

void LocalRowHub::contribute(Range tiles, Gradient gradient, const Loss& loss) {
  {
    const std::lock_guard lock(mutex_);
    table_.accumulate(0, !std::exchange(touched_, true), tiles, std::move(gradient));
    weight_ += loss.weight;
  }
  const std::lock_guard lock(loss_mutex_);
  epoch_loss_ += loss;
}

bool LocalRowHub::meet() {
  std::unique_lock lock(mutex_);
  if (over_) return false;
  const std::uint64_t meeting = meetings_;
  if (++arrived_ < options_.workers) {
    met_.wait(lock, [&] { return over_ || meetings_ != meeting; });
    return !over_;
  }
  try {
    apply();
  } catch (...) {
    failure_ = std::current_exception();
    over_ = true;
  }
  arrived_ = 0;
  ++meetings_;
  touched_ = false;
  weight_ = 0;
  if (stopping_) over_ = true;
  met_.notify_all();
  return !over_;
}

void LocalRowHub::apply() {
  const std::uint64_t step = version_;
  const Norm norm = options_.rules.look() ? table_.measure(step) : Norm{};
  const std::optional<double> scale = options_.rules.scale(norm, weight_);
  if (!scale) throw DivergedError(fmt::format("the gradient of step {}", step));
  if (*scale == 0) ++skipped_;
  table_.apply({0, step, weight_, *scale, step + 1, options_.grid.examples_before(step)}, {});
  version_ = step + 1;
  if (version_ % options_.grid.steps_per_epoch() != 0) return;
  Loss loss;
  {
    const std::lock_guard lock(loss_mutex_);
    loss = std::exchange(epoch_loss_, {});
  }
  epoch_done_(version_, loss);
}

}  // namespace paceline

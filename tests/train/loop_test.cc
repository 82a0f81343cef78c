#include "train/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "data/synthetic.h"

namespace paceline {
namespace {

constexpr Duration kWait = std::chrono::milliseconds(5);
constexpr Duration kBack = std::chrono::milliseconds(3);

void pass(Duration time) {
  const TimePoint end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

// One step of four tiles, whose parameters take their time to come.
class SlowExchange final : public Exchange {
 public:
  explicit SlowExchange(const Grid& grid) : grid_(grid) {}
  std::optional<Share> next() override {
    if (std::exchange(done_, true)) return std::nullopt;
    return grid_.whole(0);
  }
  std::optional<Share> after(const Share&) const override { return std::nullopt; }
  void begin(double) override {}
  std::span<const float> parameters() const override { return parameters_; }
  std::span<float> gradient() override { return gradient_; }
  void await(Range) override { pass(kWait); }
  void ready(Range) override {}
  void finish(const Loss&, const TreeSum*) override {}

 private:
  Grid grid_;
  bool done_ = false;
  std::vector<float> parameters_ = std::vector<float>(8);
  std::vector<float> gradient_ = std::vector<float>(8);
};

class SlowModel final : public Model {
 public:
  const Layout& layout() const override { return layout_; }
  void initialize(std::uint64_t, std::span<float>) const override {}
  Loss gradient(const Batch& batch, std::span<const float>, std::span<float> gradient,
                Flow& flow) override {
    flow.await({0, 8});
    flow.turn();
    pass(kBack);
    std::ranges::fill(gradient, 0.0F);
    flow.ready({0, 8});
    return {.weight = batch.weight, .examples = batch.size()};
  }
  Loss evaluate(const Batch&, std::span<const float>) override { return {}; }
  void predict(const Batch&, std::span<const float>, std::span<float>) override {}

 private:
  Layout layout_{{}, 8};
};

// Time spent is at least what was waited: no machine is too slow for this.
TEST(WorkerLoop, TellsWaitingAndBothPassesApartInEitherPath) {
  for (const bool deterministic : {false, true}) {
    SyntheticOptions options;
    options.examples = 8;
    options.width = 2;
    const auto dataset = make_synthetic(options, {0, 8}, "eight");
    const Grid grid{8, 8, 2};
    const Order order(OrderOptions{}, 8);
    SlowExchange exchange(grid);
    SlowModel model;
    LoopCounts counts;
    run_worker_loop({*dataset, order, grid, model, exchange, {}, deterministic}, counts);
    EXPECT_EQ(counts.examples, 8U);
    EXPECT_GE(counts.times.seconds(Phase::kWaiting), seconds(kWait)) << deterministic;
    const int passes = deterministic ? 4 : 1;
    EXPECT_GE(counts.times.seconds(Phase::kBackward), passes * seconds(kBack)) << deterministic;
  }
}

}  // namespace
}  // namespace paceline

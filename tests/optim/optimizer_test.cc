#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/byte_batch.h"
#include "model/targets.h"

namespace paceline {
namespace {

constexpr OptimizerKind kKinds[] = {OptimizerKind::kSgd, OptimizerKind::kMomentum,
                                    OptimizerKind::kAdagrad, OptimizerKind::kAdam,
                                    OptimizerKind::kFtrl};

OptimizerOptions options_of(OptimizerKind kind) {
  return {.kind = kind, .decay = 0.01};
}

StepScalars scalars_of(std::uint64_t time) {
  return {.rate = 0.1 / static_cast<double>(time), .scale = 0.25, .time = time};
}

struct State {
  std::vector<float> parameters;
  std::vector<float> slots;
  bool operator==(const State&) const = default;
};

State start(const Optimizer& optimizer, std::size_t n) {
  return {random_floats(n, 1, 1), std::vector<float>(optimizer.slots() * n)};
}

std::vector<float> gradient_at(std::size_t n, std::uint64_t time) {
  return random_floats(n, 4, 100 + time);
}

void apply(const Optimizer& optimizer, std::uint64_t time, const State& before, State& after) {
  const std::vector<float> gradient = gradient_at(before.parameters.size(), time);
  optimizer.apply(scalars_of(time), 2, 0.5, gradient, before.parameters, after.parameters,
                  before.slots, after.slots);
}

State run(const Optimizer& optimizer, std::size_t n, std::uint64_t steps) {
  State state = start(optimizer, n);
  for (std::uint64_t time = 1; time <= steps; ++time) apply(optimizer, time, state, state);
  return state;
}

// One parameter in double precision, after the formulas of optimizer.h.
class Reference {
 public:
  Reference(const OptimizerOptions& options, double parameter) : o_(options), p_(parameter) {}

  double step(const StepScalars& s, double rate_factor, double decay_factor, double gradient_sum) {
    const double g = s.scale * gradient_sum + o_.decay * decay_factor * p_;
    double r = s.rate * rate_factor;
    switch (o_.kind) {
      case OptimizerKind::kSgd:
        return p_ = shrunk(p_ - r * g, r * o_.l1);
      case OptimizerKind::kMomentum:
        m_ = o_.momentum * m_ + g;
        return p_ -= r * m_;
      case OptimizerKind::kAdagrad:
        v_ += g * g;
        r /= std::sqrt(v_) + o_.epsilon;
        return p_ = shrunk(p_ - r * g, r * o_.l1);
      case OptimizerKind::kFtrl: {
        const double bare = s.scale * gradient_sum;
        const double sigma = (std::sqrt(v_ + bare * bare) - std::sqrt(v_)) / r;
        m_ += bare - sigma * p_;
        v_ += bare * bare;
        return p_ = -shrunk(m_, o_.l1) / ((o_.beta + std::sqrt(v_)) / r + o_.decay * decay_factor);
      }
      case OptimizerKind::kAdam:
        m_ = o_.beta1 * m_ + (1 - o_.beta1) * g;
        v_ = o_.beta2 * v_ + (1 - o_.beta2) * g * g;
        const double m = m_ / (1 - std::pow(o_.beta1, static_cast<double>(s.time)));
        const double v = v_ / (1 - std::pow(o_.beta2, static_cast<double>(s.time)));
        return p_ -= r * m / (std::sqrt(v) + o_.epsilon);
    }
    return NAN;
  }

 private:
  static double shrunk(double value, double by) {
    return std::copysign(std::max(0.0, std::abs(value) - by), value);
  }

  OptimizerOptions o_;
  double p_, m_ = 0, v_ = 0;
};

std::vector<std::pair<OptimizerKind, double>> kinds_with_l1() {
  std::vector<std::pair<OptimizerKind, double>> all;
  for (const OptimizerKind kind : kKinds) all.emplace_back(kind, 0);
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kFtrl}) {
    all.emplace_back(kind, 0.1);
  }
  return all;
}

TEST(Optimizer, FollowsItsFormulaOverManySteps) {
  constexpr std::size_t kSize = 37;
  constexpr std::uint64_t kSteps = 20;
  for (const auto& [kind, l1] : kinds_with_l1()) {
    OptimizerOptions options = options_of(kind);
    options.l1 = l1;
    const Optimizer optimizer(options);
    State state = start(optimizer, kSize);
    std::vector<Reference> references;
    for (const float p : state.parameters) references.emplace_back(options, p);
    for (std::uint64_t time = 1; time <= kSteps; ++time) {
      const std::vector<float> gradient = gradient_at(kSize, time);
      apply(optimizer, time, state, state);
      for (std::size_t i = 0; i < kSize; ++i) {
        const double expected = references[i].step(scalars_of(time), 2, 0.5, gradient[i]);
        ASSERT_NEAR(state.parameters[i], expected, 5e-6)
            << "kind " << static_cast<int>(kind) << " step " << time;
      }
    }
  }
}

TEST(Optimizer, LeavesTheOldVersionAloneAndGivesTheSameBitsInPlace) {
  for (const OptimizerKind kind : kKinds) {
    const Optimizer optimizer(options_of(kind));
    const State before = run(optimizer, 29, 3);
    const State untouched = before;
    State after = {std::vector<float>(29, 9), std::vector<float>(before.slots.size(), 9)};
    apply(optimizer, 4, before, after);
    EXPECT_EQ(before, untouched);
    EXPECT_EQ(run(optimizer, 29, 4), after) << static_cast<int>(kind);
  }
}

TEST(Optimizer, GivesTheSameBitsHoweverTheRangeIsCut) {
  constexpr std::size_t kSize = 103;
  for (const OptimizerKind kind : kKinds) {
    const Optimizer optimizer(options_of(kind));
    const State before = run(optimizer, kSize, 2);
    State whole = before;
    apply(optimizer, 3, before, whole);
    const std::vector<float> gradient = gradient_at(kSize, 3);
    for (const std::size_t piece : {1u, 3u, 7u, 8u, 20u, 64u}) {
      for (std::size_t first = 0; first < kSize; first += piece) {
        const std::size_t n = std::min(piece, kSize - first);
        std::vector<float> slots;
        for (std::size_t s = 0; s < optimizer.slots(); ++s) {
          const float* slot = before.slots.data() + s * kSize + first;
          slots.insert(slots.end(), slot, slot + n);
        }
        std::vector<float> after(n);
        optimizer.apply(scalars_of(3), 2, 0.5, std::span(gradient).subspan(first, n),
                        std::span(before.parameters).subspan(first, n), after, slots, slots);
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(after[i], whole.parameters[first + i]) << "piece " << piece << " float " << i;
          for (std::size_t s = 0; s < optimizer.slots(); ++s) {
            ASSERT_EQ(slots[s * n + i], whole.slots[s * kSize + first + i]);
          }
        }
      }
    }
  }
}

TEST(Optimizer, GivesTheSameBitsOnEveryInstructionSet) {
  for (const OptimizerKind kind : kKinds) {
    const Optimizer optimizer(options_of(kind));
    const State expected = run(optimizer, 107, 5);
    for_each_target([&](const char* target) {
      EXPECT_EQ(run(optimizer, 107, 5), expected) << target << " kind " << static_cast<int>(kind);
    });
  }
}

// Every third element of the gradient, some whole vectors, and the last few are zero.
std::vector<float> gradient_of_a_table(std::size_t n, std::uint64_t time) {
  std::vector<float> gradient = gradient_at(n, time);
  for (std::size_t i = 0; i < n; ++i) {
    if ((i < n / 3 && i % 3 == 0) || (i >= n / 2 && i < 3 * n / 4) || i + 3 > n) gradient[i] = 0;
  }
  return gradient;
}

TEST(Optimizer, OfATableChangesOnlyWhatAStepHasTouched) {
  constexpr std::size_t kSize = 203;
  const GroupRange lazy{{0, kSize}, 2, 0.5, true};
  const std::vector<float> gradient = gradient_of_a_table(kSize, 4);
  for (const OptimizerKind kind : kKinds) {
    const Optimizer optimizer(options_of(kind));
    const State before = run(optimizer, kSize, 3);
    State all = before;
    optimizer.apply(scalars_of(4), 2, 0.5, gradient, before.parameters, all.parameters,
                    before.slots, all.slots);
    for_each_target([&](const char* target) {
      State touched = {std::vector<float>(kSize, 9), std::vector<float>(before.slots.size(), 9)};
      optimizer.apply(scalars_of(4), std::span(&lazy, 1), gradient, before.parameters,
                      touched.parameters, before.slots, touched.slots);
      for (std::size_t i = 0; i < kSize; ++i) {
        const State& expected = gradient[i] == 0 ? before : all;
        ASSERT_EQ(touched.parameters[i], expected.parameters[i]) << target << " float " << i;
        for (std::size_t s = 0; s < optimizer.slots(); ++s) {
          ASSERT_EQ(touched.slots[s * kSize + i], expected.slots[s * kSize + i]) << target;
        }
      }
      State in_place = before;
      optimizer.apply(scalars_of(4), std::span(&lazy, 1), gradient, in_place.parameters,
                      in_place.parameters, in_place.slots, in_place.slots);
      EXPECT_EQ(in_place, touched) << target;
    });
  }
}

TEST(Optimizer, WithFactorsOfZeroKeepsTheParameters) {
  for (const OptimizerKind kind : kKinds) {
    const Optimizer optimizer(options_of(kind));
    State state = start(optimizer, 11);
    const std::vector<float> before = state.parameters;
    optimizer.apply(scalars_of(1), 0, 0, gradient_at(11, 1), state.parameters, state.parameters,
                    state.slots, state.slots);
    EXPECT_EQ(state.parameters, before);
  }
}

TEST(Optimizer, AcceptsAnEmptyRange) {
  for (const OptimizerKind kind : kKinds) {
    const Optimizer optimizer(options_of(kind));
    optimizer.apply(scalars_of(1), 1, 1, {}, {}, {}, {}, {});
    EXPECT_LE(optimizer.slots(), 2u);
  }
}

}  // namespace
}  // namespace paceline

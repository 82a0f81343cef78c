#include "optim/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim/optimizer.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

#ifndef PACELINE_OPTIM_OPTIMIZER_ONCE
#define PACELINE_OPTIM_OPTIMIZER_ONCE
namespace paceline {

inline constexpr std::size_t kMaxSlots = 2;

// One application, with the options of a group of parameters.
struct Coefficients {
  float rate, scale, decay;
  float momentum, epsilon, l1, beta;
  double beta1, beta2;
  std::uint64_t time;
  bool lazy;
};

struct Arrays {
  const float* gradient;
  const float* before;
  float* after;
  const float* state_before[kMaxSlots];
  float* state_after[kMaxSlots];
};

}  // namespace paceline
#endif

// Every element goes through the same operations, each rounded on its own, wherever it
// lies: the remainder that fills no vector is computed in a padded one. So the bits of the
// result depend neither on how a vector is cut among servers nor on the processor.
HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// The rules keep their constants as vectors: in registers, as stores of floats could
// change the floats they come from.
struct Gradient {
  explicit Gradient(const Coefficients& k)
      : scale(hn::Set(F(), k.scale)), decay(hn::Set(F(), k.decay)) {}
  HWY_INLINE V at(const Arrays& a, std::size_t i, V p) const {
    return hn::Add(hn::Mul(scale, hn::LoadU(F(), a.gradient + i)), hn::Mul(decay, p));
  }
  V scale, decay;
};

// Towards zero, and no further.
HWY_INLINE V shrink(V value, V by) {
  const V size = hn::Max(hn::Sub(hn::Abs(value), by), hn::Zero(F()));
  return hn::CopySign(size, value);
}

struct Sgd {
  static constexpr std::size_t kSlots = 0;
  explicit Sgd(const Coefficients& k)
      : gradient(k),
        rate(hn::Set(F(), k.rate)),
        l1(hn::Set(F(), k.rate * k.l1)),
        sparse(k.l1 > 0) {}
  HWY_INLINE void step(const Arrays& a, std::size_t i) const {
    const V p = hn::LoadU(F(), a.before + i);
    const V g = gradient.at(a, i, p);
    const V moved = hn::Sub(p, hn::Mul(rate, g));
    hn::StoreU(sparse ? shrink(moved, l1) : moved, F(), a.after + i);
  }
  Gradient gradient;
  V rate, l1;
  bool sparse;
};

struct Momentum {
  static constexpr std::size_t kSlots = 1;
  explicit Momentum(const Coefficients& k)
      : gradient(k), rate(hn::Set(F(), k.rate)), momentum(hn::Set(F(), k.momentum)) {}
  HWY_INLINE void step(const Arrays& a, std::size_t i) const {
    const V p = hn::LoadU(F(), a.before + i);
    const V g = gradient.at(a, i, p);
    const V m = hn::Add(hn::Mul(momentum, hn::LoadU(F(), a.state_before[0] + i)), g);
    hn::StoreU(m, F(), a.state_after[0] + i);
    hn::StoreU(hn::Sub(p, hn::Mul(rate, m)), F(), a.after + i);
  }
  Gradient gradient;
  V rate, momentum;
};

struct Adagrad {
  static constexpr std::size_t kSlots = 1;
  explicit Adagrad(const Coefficients& k)
      : gradient(k),
        rate(hn::Set(F(), k.rate)),
        epsilon(hn::Set(F(), k.epsilon)),
        l1(hn::Set(F(), k.rate * k.l1)),
        sparse(k.l1 > 0) {}
  HWY_INLINE void step(const Arrays& a, std::size_t i) const {
    const V p = hn::LoadU(F(), a.before + i);
    const V g = gradient.at(a, i, p);
    const V squares = hn::Add(hn::LoadU(F(), a.state_before[0] + i), hn::Mul(g, g));
    const V root = hn::Add(hn::Sqrt(squares), epsilon);
    hn::StoreU(squares, F(), a.state_after[0] + i);
    const V moved = hn::Sub(p, hn::Div(hn::Mul(rate, g), root));
    hn::StoreU(sparse ? shrink(moved, hn::Div(l1, root)) : moved, F(), a.after + i);
  }
  Gradient gradient;
  V rate, epsilon, l1;
  bool sparse;
};

template <typename Rule>
HWY_INLINE void keep(const Arrays& a, std::size_t i) {
  hn::StoreU(hn::LoadU(F(), a.before + i), F(), a.after + i);
  for (std::size_t s = 0; s < Rule::kSlots; ++s) {
    hn::StoreU(hn::LoadU(F(), a.state_before[s] + i), F(), a.state_after[s] + i);
  }
}

struct Ftrl {
  static constexpr std::size_t kSlots = 2;
  explicit Ftrl(const Coefficients& k)
      : scale(hn::Set(F(), k.scale)),
        decay(hn::Set(F(), k.decay)),
        rate(hn::Set(F(), k.rate)),
        l1(hn::Set(F(), k.l1)),
        beta(hn::Set(F(), k.beta)),
        still(k.rate == 0) {}
  HWY_INLINE void step(const Arrays& a, std::size_t i) const {
    if (still) return keep<Ftrl>(a, i);
    const V p = hn::LoadU(F(), a.before + i);
    const V g = hn::Mul(scale, hn::LoadU(F(), a.gradient + i));
    const V n = hn::LoadU(F(), a.state_before[1] + i);
    const V squares = hn::Add(n, hn::Mul(g, g));
    const V root = hn::Sqrt(squares);
    const V sigma = hn::Div(hn::Sub(root, hn::Sqrt(n)), rate);
    const V z = hn::Sub(hn::Add(hn::LoadU(F(), a.state_before[0] + i), g), hn::Mul(sigma, p));
    hn::StoreU(z, F(), a.state_after[0] + i);
    hn::StoreU(squares, F(), a.state_after[1] + i);
    const V slope = hn::Add(hn::Div(hn::Add(beta, root), rate), decay);
    hn::StoreU(hn::Neg(hn::Div(shrink(z, l1), slope)), F(), a.after + i);
  }
  V scale, decay, rate, l1, beta;
  bool still;
};

// A moving average that keeps `old_share` of what it was, and the factor that makes up for
// having started at zero.
struct Average {
  Average(double beta, std::uint64_t time)
      : old_share(hn::Set(F(), static_cast<float>(beta))),
        new_share(hn::Set(F(), static_cast<float>(1 - beta))),
        correction(hn::Set(
            F(), static_cast<float>(1 / (1 - std::pow(beta, static_cast<double>(time)))))) {}
  HWY_INLINE V next(V old_value, V new_value) const {
    return hn::Add(hn::Mul(old_share, old_value), hn::Mul(new_share, new_value));
  }
  V old_share, new_share, correction;
};

struct Adam {
  static constexpr std::size_t kSlots = 2;
  explicit Adam(const Coefficients& k)
      : gradient(k),
        mean(k.beta1, k.time),
        variance(k.beta2, k.time),
        rate(hn::Set(F(), k.rate)),
        epsilon(hn::Set(F(), k.epsilon)) {}
  HWY_INLINE void step(const Arrays& a, std::size_t i) const {
    const V p = hn::LoadU(F(), a.before + i);
    const V g = gradient.at(a, i, p);
    const V m = mean.next(hn::LoadU(F(), a.state_before[0] + i), g);
    const V v = variance.next(hn::LoadU(F(), a.state_before[1] + i), hn::Mul(g, g));
    const V root = hn::Add(hn::Sqrt(hn::Mul(variance.correction, v)), epsilon);
    const V direction = hn::Div(hn::Mul(mean.correction, m), root);
    hn::StoreU(m, F(), a.state_after[0] + i);
    hn::StoreU(v, F(), a.state_after[1] + i);
    hn::StoreU(hn::Sub(p, hn::Mul(rate, direction)), F(), a.after + i);
  }
  Gradient gradient;
  Average mean, variance;
  V rate, epsilon;
};

template <typename Rule>
void apply_tail(const Rule& rule, Arrays a, std::size_t first, std::size_t count) {
  HWY_ALIGN float in[2 + kMaxSlots][hn::MaxLanes(F())] = {};
  HWY_ALIGN float out[1 + kMaxSlots][hn::MaxLanes(F())];
  std::copy_n(a.gradient + first, count, in[0]);
  std::copy_n(a.before + first, count, in[1]);
  Arrays padded{in[0], in[1], out[0], {}, {}};
  for (std::size_t s = 0; s < Rule::kSlots; ++s) {
    std::copy_n(a.state_before[s] + first, count, in[2 + s]);
    padded.state_before[s] = in[2 + s];
    padded.state_after[s] = out[1 + s];
  }
  rule.step(padded, 0);
  std::copy_n(out[0], count, a.after + first);
  for (std::size_t s = 0; s < Rule::kSlots; ++s) {
    std::copy_n(out[1 + s], count, a.state_after[s] + first);
  }
}

// The arrays are given by value: pointers that no store could change stay in registers.
template <typename Rule>
void apply_rule(const Coefficients& k, Arrays a, std::size_t n) {
  const Rule rule(k);
  const std::size_t lanes = hn::Lanes(F());
  std::size_t i = 0;
#pragma GCC unroll 4
  for (; i + lanes <= n; i += lanes) rule.step(a, i);
  if (i < n) apply_tail(rule, a, i, n - i);
}

template <typename Rule>
void apply_or_keep(const Rule& rule, const Arrays& a, std::size_t i) {
  if (a.gradient[i] != 0) return apply_tail(rule, a, i, 1);
  a.after[i] = a.before[i];
  for (std::size_t s = 0; s < Rule::kSlots; ++s) a.state_after[s][i] = a.state_before[s][i];
}

// Most vectors are touched as a whole or not at all; the others go element by element.
template <typename Rule>
void apply_lazily(const Coefficients& k, Arrays a, std::size_t n) {
  const Rule rule(k);
  const std::size_t lanes = hn::Lanes(F());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto untouched = hn::Eq(hn::LoadU(F(), a.gradient + i), hn::Zero(F()));
    if (hn::AllTrue(F(), untouched)) {
      keep<Rule>(a, i);
    } else if (hn::AllFalse(F(), untouched)) {
      rule.step(a, i);
    } else {
      for (std::size_t j = i; j < i + lanes; ++j) apply_or_keep(rule, a, j);
    }
  }
  for (; i < n; ++i) apply_or_keep(rule, a, i);
}

template <typename Rule>
void apply_to(const Coefficients& k, const Arrays& a, std::size_t n) {
  k.lazy ? apply_lazily<Rule>(k, a, n) : apply_rule<Rule>(k, a, n);
}

void apply_kind(OptimizerKind kind, const Coefficients& k, const Arrays& a, std::size_t n) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return apply_to<Sgd>(k, a, n);
    case OptimizerKind::kMomentum:
      return apply_to<Momentum>(k, a, n);
    case OptimizerKind::kAdagrad:
      return apply_to<Adagrad>(k, a, n);
    case OptimizerKind::kAdam:
      return apply_to<Adam>(k, a, n);
    case OptimizerKind::kFtrl:
      return apply_to<Ftrl>(k, a, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(apply_kind);

Coefficients coefficients(const OptimizerOptions& options, const StepScalars& scalars,
                          const GroupRange& group) {
  return {.rate = static_cast<float>(scalars.rate * group.rate_factor),
          .scale = static_cast<float>(scalars.scale),
          .decay = static_cast<float>(options.decay * group.decay_factor),
          .momentum = static_cast<float>(options.momentum),
          .epsilon = static_cast<float>(options.epsilon),
          .l1 = static_cast<float>(options.l1),
          .beta = static_cast<float>(options.beta),
          .beta1 = options.beta1,
          .beta2 = options.beta2,
          .time = scalars.time,
          .lazy = group.lazy};
}

}  // namespace

std::size_t Optimizer::slots() const {
  switch (options_.kind) {
    case OptimizerKind::kSgd:
      return 0;
    case OptimizerKind::kMomentum:
    case OptimizerKind::kAdagrad:
      return 1;
    case OptimizerKind::kAdam:
    case OptimizerKind::kFtrl:
      return 2;
  }
  throw ConfigError("optimizer: unknown kind");
}

void Optimizer::apply(const StepScalars& scalars, double rate_factor, double decay_factor,
                      std::span<const float> gradient_sum, std::span<const float> before,
                      std::span<float> after, std::span<const float> state_before,
                      std::span<float> state_after) const {
  const GroupRange whole{{0, gradient_sum.size()}, rate_factor, decay_factor};
  apply(scalars, std::span(&whole, 1), gradient_sum, before, after, state_before, state_after);
}

void Optimizer::apply(const StepScalars& scalars, std::span<const GroupRange> groups,
                      std::span<const float> gradient_sum, std::span<const float> before,
                      std::span<float> after, std::span<const float> state_before,
                      std::span<float> state_after) const {
  const std::size_t n = gradient_sum.size();
  PACELINE_CHECK(before.size() == n && after.size() == n);
  PACELINE_CHECK(scalars.time > 0);
  PACELINE_CHECK(state_before.size() == slots() * n && state_after.size() == slots() * n);
  for (const GroupRange& group : groups) {
    PACELINE_CHECK(group.floats.end <= n);
    const std::size_t first = group.floats.begin;
    Arrays arrays{gradient_sum.data() + first, before.data() + first, after.data() + first, {}, {}};
    for (std::size_t s = 0; s < slots(); ++s) {
      arrays.state_before[s] = state_before.data() + s * n + first;
      arrays.state_after[s] = state_after.data() + s * n + first;
    }
    HWY_DYNAMIC_DISPATCH(apply_kind)
    (options_.kind, coefficients(options_, scalars, group), arrays, group.floats.size());
  }
}

}  // namespace paceline
#endif

#include "optim/rows/learn_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim/rows/learn_rows.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;

// How many rows ahead memory is asked for: first the row, then the table's rows of its keys.
constexpr std::size_t kRowsAhead = 24;
constexpr std::size_t kKeysAhead = 8;

// One row's keys, side by side. The length is a multiple of a vector's.
struct Gathered {
  float* pairs;   // a and b of each key
  float* values;  // of each key
  std::size_t count;
  std::size_t padded;
};

struct GatherScratch {
  Buffer pairs;
  Buffer values;

  Gathered of(std::size_t count, std::size_t lanes) {
    const std::size_t padded = (count + lanes - 1) / lanes * lanes;
    if (values.size() < padded * sizeof(float)) {
      pairs = Buffer(4 * padded * sizeof(float));
      values = Buffer(2 * padded * sizeof(float));
    }
    return {pairs.as_floats().data(), values.as_floats().data(), count, padded};
  }
};

inline void prefetch_row(const std::uint32_t* row) {
  for (int line = 0; line < 4; ++line) __builtin_prefetch(row + 16 * line);
}

template <int kWrite>
inline void prefetch_keys(const std::uint32_t* words, const TableView& table) {
  const RowView row = row_at(words);
  for (const Key key : row.keys) __builtin_prefetch(table.row(key), kWrite);
}

inline Gathered gather(const RowView& row, const TableView& table, GatherScratch& scratch) {
  const Floats f;
  const Gathered all = scratch.of(row.keys.size(), hn::Lanes(f));
  for (std::size_t i = 0; i < all.count; ++i) {
    const TableRow value = load(table.row(row.keys[i]));
    all.pairs[2 * i] = value.a;
    all.pairs[2 * i + 1] = value.b;
  }
  std::fill(all.pairs + 2 * all.count, all.pairs + 2 * all.padded, 0.0F);
  float* at = std::copy(row.values.begin(), row.values.end(), all.values);
  std::fill(at, all.values + all.count, 1.0F);
  std::fill(all.values + all.count, all.values + all.padded, 0.0F);
  return all;
}

struct Constants {
  Vec rate, l1, l2, epsilon, beta, rate_inverse;
};

inline Constants constants_of(const RowRule& rule) {
  const Floats f;
  return {hn::Set(f, rule.rate),    hn::Set(f, rule.l1),   hn::Set(f, rule.l2),
          hn::Set(f, rule.epsilon), hn::Set(f, rule.beta), hn::Set(f, 1 / rule.rate)};
}

template <OptimizerKind kKind>
inline Vec weights(Vec a, Vec b, const Constants& c) {
  if constexpr (kKind != OptimizerKind::kFtrl) {
    return a;
  } else {
    const Floats f;
    const Vec excess = hn::Sub(hn::Abs(a), c.l1);
    const Vec scale = hn::MulAdd(hn::Add(c.beta, hn::Sqrt(b)), c.rate_inverse, c.l2);
    const Vec size = hn::Div(hn::Max(excess, hn::Zero(f)), scale);
    return hn::Neg(hn::CopySign(size, a));
  }
}

template <OptimizerKind kKind>
inline float dot(const Gathered& all, const Constants& c) {
  const Floats f;
  Vec sum = hn::Zero(f);
  for (std::size_t i = 0; i < all.padded; i += hn::Lanes(f)) {
    Vec a, b;
    hn::LoadInterleaved2(f, all.pairs + 2 * i, a, b);
    sum = hn::MulAdd(weights<kKind>(a, b, c), hn::Load(f, all.values + i), sum);
  }
  return hn::GetLane(hn::SumOfLanes(f, sum));
}

// Turns the pairs into what is to be added to each.
template <OptimizerKind kKind>
inline void changes(const Gathered& all, float slope, const RowRule& rule, const Constants& c) {
  const Floats f;
  const Vec slopes = hn::Set(f, slope);
  for (std::size_t i = 0; i < all.padded; i += hn::Lanes(f)) {
    Vec a, b;
    hn::LoadInterleaved2(f, all.pairs + 2 * i, a, b);
    const Vec w = weights<kKind>(a, b, c);
    Vec g = hn::Mul(slopes, hn::Load(f, all.values + i));
    Vec by_a, by_b;
    if constexpr (kKind == OptimizerKind::kFtrl) {
      by_b = hn::Mul(g, g);
      const Vec sigma = hn::Mul(hn::Sub(hn::Sqrt(hn::Add(b, by_b)), hn::Sqrt(b)), c.rate_inverse);
      by_a = hn::NegMulAdd(sigma, w, g);
    } else {
      g = hn::MulAdd(c.l2, w, g);
      Vec rate = c.rate;
      by_b = hn::Zero(f);
      if constexpr (kKind == OptimizerKind::kAdagrad) {
        by_b = hn::Mul(g, g);
        rate = hn::Div(rate, hn::Add(hn::Sqrt(hn::Add(b, by_b)), c.epsilon));
      }
      by_a = hn::Neg(hn::Mul(rate, g));
      if (rule.l1 > 0) {
        const Vec moved = hn::Add(w, by_a);
        const Vec size = hn::NegMulAdd(rate, c.l1, hn::Abs(moved));
        by_a = hn::Sub(hn::CopySign(hn::Max(size, hn::Zero(f)), moved), w);
      }
    }
    hn::StoreInterleaved2(by_a, by_b, f, all.pairs + 2 * i);
  }
}

template <OptimizerKind kKind>
Loss learn(const RowRule& rule, RowPointers rows, const TableView& table) {
  thread_local GatherScratch scratch;
  const Constants c = constants_of(rule);
  Loss loss;
  for (std::size_t i = 0; i < std::min(kKeysAhead, rows.size()); ++i) {
    prefetch_keys<1>(rows[i], table);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) prefetch_row(rows[i + kRowsAhead]);
    if (i + kKeysAhead < rows.size()) prefetch_keys<1>(rows[i + kKeysAhead], table);
    const RowView row = row_at(rows[i]);
    const Gathered all = gather(row, table, scratch);
    const float score = dot<kKind>(all, c);
    count_loss(rule.loss, score, row.label, loss);
    changes<kKind>(all, slope_of(rule.loss, score, row.label), rule, c);
    for (std::size_t k = 0; k < all.count; ++k) {  // a key may occur twice
      TableRow* at = table.row(row.keys[k]);
      TableRow value = load(at);
      value.a += all.pairs[2 * k];
      value.b += all.pairs[2 * k + 1];
      store(at, value);
    }
  }
  return loss;
}

template <OptimizerKind kKind>
void score(const RowRule& rule, RowPointers rows, const TableView& table, float* scores) {
  thread_local GatherScratch scratch;
  const Constants c = constants_of(rule);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) prefetch_row(rows[i + kRowsAhead]);
    if (i + kKeysAhead < rows.size()) prefetch_keys<0>(rows[i + kKeysAhead], table);
    scores[i] = dot<kKind>(gather(row_at(rows[i]), table, scratch), c);
  }
}

Loss learn_any(const RowRule& rule, RowPointers rows, const TableView& table) {
  if (rule.kind == OptimizerKind::kFtrl) return learn<OptimizerKind::kFtrl>(rule, rows, table);
  if (rule.kind == OptimizerKind::kSgd) return learn<OptimizerKind::kSgd>(rule, rows, table);
  return learn<OptimizerKind::kAdagrad>(rule, rows, table);
}

void score_any(const RowRule& rule, RowPointers rows, const TableView& table, float* scores) {
  if (rule.kind == OptimizerKind::kFtrl) {
    score<OptimizerKind::kFtrl>(rule, rows, table, scores);
  } else {
    score<OptimizerKind::kSgd>(rule, rows, table, scores);  // the weight is in the row
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(learn_any);
HWY_EXPORT(score_any);

}  // namespace

Loss learn_rows(const RowRule& rule, RowPointers rows, const TableView& table) {
  return HWY_DYNAMIC_DISPATCH(learn_any)(rule, rows, table);
}

void score_rows(const RowRule& rule, RowPointers rows, const TableView& table,
                std::span<float> scores) {
  PACELINE_CHECK(scores.size() == rows.size());
  HWY_DYNAMIC_DISPATCH(score_any)(rule, rows, table, scores.data());
}

float weight_of(const RowRule& rule, TableRow row) {
  if (rule.kind != OptimizerKind::kFtrl) return row.a;
  const float excess = std::abs(row.a) - rule.l1;
  if (excess <= 0) return 0;
  return -std::copysign(excess / ((rule.beta + std::sqrt(row.b)) / rule.rate + rule.l2), row.a);
}

double area_under_curve(std::span<const float> scores, std::span<const float> labels) {
  std::vector<std::uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return scores[a] < scores[b]; });
  double ranks = 0;  // of the positives, from 1; equal scores share their mean rank
  double positives = 0;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    double here = 0;
    while (end < order.size() && scores[order[end]] == scores[order[i]]) {
      here += labels[order[end++]] > 0 ? 1 : 0;
    }
    ranks += here * (static_cast<double>(i + end + 1) / 2);
    positives += here;
    i = end;
  }
  const double negatives = static_cast<double>(order.size()) - positives;
  if (positives == 0 || negatives == 0) return 0.5;
  return (ranks - positives * (positives + 1) / 2) / (positives * negatives);
}

}  // namespace paceline
#endif

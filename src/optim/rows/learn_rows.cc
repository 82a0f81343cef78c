#include "optim/rows/learn_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"

// Scratch memory is for vectors of a known length.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optim/rows/learn_rows.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
// A row of the table is a word of 64 bits; vectors of floats have as many lanes.
using Words = hn::ScalableTag<std::uint64_t>;
using Floats = hn::Rebind<float, Words>;
using Vec = hn::Vec<Floats>;
constexpr std::size_t kLanes = hn::MaxLanes(Words());

// How many rows ahead memory is asked for: first the row, then the table's rows of its keys.
constexpr std::size_t kRowsAhead = 24;
constexpr std::size_t kKeysAhead = 8;

// The table's rows of one example's keys, side by side, and the keys' values. The length is a
// multiple of a vector's; what is behind the last key has the value 0.
struct Gathered {
  std::uint64_t* rows;
  float* values;
  std::size_t count;
  std::size_t padded;
};

struct GatherScratch {
  Buffer memory;
  std::size_t room = 0;

  Gathered of(std::size_t count) {
    const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
    if (room < padded) {
      room = 2 * padded;
      memory = Buffer::zeros(room * (sizeof(std::uint64_t) + sizeof(float)));
    }
    auto* rows = reinterpret_cast<std::uint64_t*>(memory.data());
    return {rows, reinterpret_cast<float*>(rows + room), count, padded};
  }
};

// Inlined by force: a call of a function that does nothing but this would be left out.
HWY_INLINE void prefetch_row(const std::uint32_t* row) {
  for (int line = 0; line < 4; ++line) __builtin_prefetch(row + 16 * line);
}

template <int kWrite>
HWY_INLINE void prefetch_keys(const std::uint32_t* words, const TableView& table) {
  const RowView row = row_at(words);
  for (const Key key : row.keys) __builtin_prefetch(table.row(key), kWrite);
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
    // With a beta of 0 the scale of a row that nothing has touched is 0, too.
    const Vec size = hn::IfThenElseZero(hn::Gt(excess, hn::Zero(f)), hn::Div(excess, scale));
    return hn::Neg(hn::CopySign(size, a));
  }
}

template <OptimizerKind kKind>
inline float weight(TableRow row, const RowRule& rule) {
  return kKind == OptimizerKind::kFtrl ? weight_of(rule, row) : row.a;
}

// The score. Keys are read one by one: the example before has changed some of these rows, and
// what it has just written reaches a single load at once, but a vector only from the cache. By the
// time that the slope of the loss is known, vectors can read what is put side by side here.
template <OptimizerKind kKind>
inline float gather(const RowView& row, const RowRule& rule, const TableView& table,
                    const Gathered& all) {
  const auto take = [&](std::size_t i, float value) HWY_ATTR {
    const TableRow at = load(table.row(row.keys[i]));
    all.rows[i] = std::bit_cast<std::uint64_t>(at);
    all.values[i] = value;
    return weight<kKind>(at, rule) * value;
  };
  float sums[4] = {};  // so that additions need not wait for each other
  std::size_t i = 0;
  for (; i < row.values.size(); ++i) sums[0] += take(i, row.values[i]);
  for (; i + 4 <= all.count; i += 4) {
    sums[0] += take(i, 1);
    sums[1] += take(i + 1, 1);
    sums[2] += take(i + 2, 1);
    sums[3] += take(i + 3, 1);
  }
  for (; i < all.count; ++i) sums[0] += take(i, 1);
  for (; i < all.padded; ++i) all.values[i] = 0;
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Fills `rows` with what each becomes.
template <OptimizerKind kKind>
inline void changes(const Gathered& all, float slope, const RowRule& rule, const Constants& c) {
  const Floats f;
  const Vec slopes = hn::Set(f, slope);
  for (std::size_t i = 0; i < all.padded; i += kLanes) {
    const hn::RebindToUnsigned<Floats> bits;
    const auto row = hn::Load(Words(), all.rows + i);
    const Vec a = hn::BitCast(f, hn::TruncateTo(bits, row));
    const Vec b = hn::BitCast(f, hn::TruncateTo(bits, hn::ShiftRight<32>(row)));
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
    const auto new_a = hn::PromoteTo(Words(), hn::BitCast(bits, hn::Add(a, by_a)));
    const auto new_b = hn::PromoteTo(Words(), hn::BitCast(bits, hn::Add(b, by_b)));
    hn::Store(hn::Or(new_a, hn::ShiftLeft<32>(new_b)), Words(), all.rows + i);
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
    const Gathered all = scratch.of(row.keys.size());
    const float score = gather<kKind>(row, rule, table, all);
    count_loss(rule.loss, score, row.label, loss);
    changes<kKind>(all, slope_of(rule.loss, score, row.label), rule, c);
    for (std::size_t k = 0; k < all.count; ++k) {
      store(table.row(row.keys[k]), std::bit_cast<TableRow>(all.rows[k]));
    }
  }
  return loss;
}

template <OptimizerKind kKind>
void score(const RowRule& rule, RowPointers rows, const TableView& table, float* scores) {
  thread_local GatherScratch scratch;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) prefetch_row(rows[i + kRowsAhead]);
    if (i + kKeysAhead < rows.size()) prefetch_keys<0>(rows[i + kKeysAhead], table);
    const RowView row = row_at(rows[i]);
    scores[i] = gather<kKind>(row, rule, table, scratch.of(row.keys.size()));
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

// As the optimizer has it (optimizer.cc): each operation rounded by itself.
void ftrl_weights(const RowRule& rule, const TableRow* rows, std::size_t count, float* weights) {
  const Floats f;
  const Vec l1 = hn::Set(f, rule.l1);
  const Vec l2 = hn::Set(f, rule.l2);
  const Vec beta = hn::Set(f, rule.beta);
  const Vec rate = hn::Set(f, rule.rate);
  const auto some = [&](const std::uint64_t* words, float* out) HWY_ATTR {
    const hn::RebindToUnsigned<Floats> bits;
    const auto row = hn::LoadU(Words(), words);
    const Vec z = hn::BitCast(f, hn::TruncateTo(bits, row));
    const Vec n = hn::BitCast(f, hn::TruncateTo(bits, hn::ShiftRight<32>(row)));
    const Vec excess = hn::Sub(hn::Abs(z), l1);
    const Vec slope = hn::Add(hn::Div(hn::Add(beta, hn::Sqrt(n)), rate), l2);
    const Vec size = hn::IfThenElseZero(hn::Gt(excess, hn::Zero(f)), hn::Div(excess, slope));
    hn::StoreU(hn::Neg(hn::CopySign(size, z)), f, out);
  };
  const auto* words = reinterpret_cast<const std::uint64_t*>(rows);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) some(words + i, weights + i);
  if (i == count) return;
  std::uint64_t last[kLanes] = {};
  float out[kLanes];
  std::copy_n(words + i, count - i, last);
  some(last, out);
  std::copy_n(out, count - i, weights + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(learn_any);
HWY_EXPORT(score_any);
HWY_EXPORT(ftrl_weights);

}  // namespace

Loss learn_rows(const RowRule& rule, RowPointers rows, const TableView& table) {
  return HWY_DYNAMIC_DISPATCH(learn_any)(rule, rows, table);
}

void score_rows(const RowRule& rule, RowPointers rows, const TableView& table,
                std::span<float> scores) {
  PACELINE_CHECK(scores.size() == rows.size());
  HWY_DYNAMIC_DISPATCH(score_any)(rule, rows, table, scores.data());
}

RowRule row_rule(const OptimizerOptions& options, double rate) {
  RowRule rule;
  rule.kind = options.kind;
  rule.rate = static_cast<float>(rate);
  rule.l1 = static_cast<float>(options.l1);
  rule.l2 = static_cast<float>(options.decay);
  rule.epsilon = static_cast<float>(options.epsilon);
  rule.beta = static_cast<float>(options.beta);
  return rule;
}

float weight_of(const RowRule& rule, TableRow row) {
  if (rule.kind != OptimizerKind::kFtrl) return row.a;
  const float excess = std::abs(row.a) - rule.l1;
  if (excess <= 0) return 0;
  return -std::copysign(excess / ((rule.beta + std::sqrt(row.b)) / rule.rate + rule.l2), row.a);
}

void weights_of(const RowRule& rule, std::span<const TableRow> rows, std::span<float> weights) {
  PACELINE_CHECK(rows.size() == weights.size());
  if (rule.kind == OptimizerKind::kFtrl) {
    HWY_DYNAMIC_DISPATCH(ftrl_weights)(rule, rows.data(), rows.size(), weights.data());
  } else {
    std::ranges::transform(rows, weights.begin(), [](const TableRow& row) { return row.a; });
  }
}

}  // namespace paceline
#endif

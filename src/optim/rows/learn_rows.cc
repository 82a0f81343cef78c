#include "optim/rows/learn_rows.h"

#include <algorithm>
#include <array>
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

// Memory for vectors of numbers, a multiple of a vector's lanes of each, that grows.
class Scratch {
 public:
  // What was there is lost when it grows; new floats are 1.
  void make_room(std::size_t count) {
    padded_ = (count + kLanes - 1) / kLanes * kLanes;
    if (room_ >= padded_) return;
    room_ = 2 * padded_;
    memory_ = Buffer::zeros(room_ * (sizeof(std::uint64_t) + sizeof(float)));
    std::fill_n(floats(), room_, 1.0F);
  }
  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(memory_.data()); }
  float* floats() { return reinterpret_cast<float*>(words() + room_); }
  std::size_t padded() const { return padded_; }

 private:
  Buffer memory_;
  std::size_t room_ = 0;
  std::size_t padded_ = 0;
};

// Of an example that is being learned from: the table's rows of its keys, side by side, and the
// keys' values. Of the examples that come next: where those rows are.
struct Workspace {
  Scratch gathered;
  std::array<Scratch, kKeysAhead + 1> places;

  Scratch& places_of(std::size_t example) { return places[example % places.size()]; }
};

// Into the second level of the cache: the first is for the table. Inlined by force: a call of a
// function that does nothing but this would be left out.
HWY_INLINE void prefetch_row(const std::uint32_t* row) {
  for (std::size_t line = 0; line < 4; ++line) __builtin_prefetch(row + 16 * line, 0, 2);
}

HWY_INLINE TableRow* row_at_place(std::uint64_t place) {
  return reinterpret_cast<TableRow*>(place);  // NOLINT(*-no-int-to-ptr)
}

// Asks for what is at these places.
template <int kWrite>
HWY_INLINE void prefetch(Scratch& places, std::size_t begin, std::size_t end) {
  const std::uint64_t* all = places.words();
  for (std::size_t i = begin; i < end; ++i) __builtin_prefetch(row_at_place(all[i]), kWrite);
}

// Finds the places of a row's keys, as TableView::row() does.
HWY_INLINE std::size_t find_places(const std::uint32_t* words, const TableView& table,
                                   Scratch& places) {
  const RowView row = row_at(words);
  const std::size_t count = row.keys.size();
  places.make_room(count);
  const Words w;
  const hn::Rebind<Key, Words> k;
  const auto some = [&](const Key* keys, std::uint64_t* out) HWY_ATTR {
    const auto all = hn::LoadU(k, keys);
    const auto hot = hn::PromoteTo(w, hn::ShiftRight<31>(all));
    const auto number = hn::PromoteTo(w, hn::AndNot(hn::Set(k, kHotBit), all));
    const auto to_place = hn::And(hn::Sub(hn::Zero(w), hot), hn::Set(w, table.to_hot()));
    const auto first = hn::Add(hn::Set(w, table.first()), to_place);
    hn::Store(hn::Add(first, hn::ShiftLeft<3>(number)), w, out);
  };
  static_assert(sizeof(TableRow) == 8);
  std::uint64_t* out = places.words();
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) some(row.keys.data() + i, out + i);
  if (i < count) {
    Key last[kLanes] = {};
    for (std::size_t j = 0; i + j < count; ++j) last[j] = row.keys[i + j];
    some(last, out + i);
  }
  return count;
}

template <int kWrite>
HWY_INLINE void prefetch_keys(const std::uint32_t* words, const TableView& table, Scratch& places) {
  prefetch<kWrite>(places, 0, find_places(words, table, places));
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
inline float gather(const RowView& row, const RowRule& rule, const std::uint64_t* places,
                    Scratch& all) {
  std::uint64_t* rows = all.words();
  const auto take = [&](std::size_t i) HWY_ATTR {
    const TableRow at = load(row_at_place(places[i]));
    rows[i] = std::bit_cast<std::uint64_t>(at);
    return weight<kKind>(at, rule);
  };
  const std::size_t values = row.values.size();
  const std::size_t keys = row.keys.size();
  float a = 0, b = 0, c = 0, d = 0;  // additions need not wait for each other
  std::size_t i = 0;
  for (; i + 4 <= values; i += 4) {
    a += take(i) * row.values[i];
    b += take(i + 1) * row.values[i + 1];
    c += take(i + 2) * row.values[i + 2];
    d += take(i + 3) * row.values[i + 3];
  }
  for (; i < values; ++i) a += take(i) * row.values[i];
  for (; i + 4 <= keys; i += 4) {
    a += take(i);
    b += take(i + 1);
    c += take(i + 2);
    d += take(i + 3);
  }
  for (; i < keys; ++i) a += take(i);
  return (a + b) + (c + d);
}

// Updates the gathered rows in place. What is behind the last one is padding, which nobody reads.
template <OptimizerKind kKind>
inline void change(Scratch& all, float slope, const RowRule& rule, const Constants& c) {
  const Floats f;
  const Vec slopes = hn::Set(f, slope);
  std::uint64_t* rows = all.words();
  const float* values = all.floats();
  for (std::size_t i = 0; i < all.padded(); i += kLanes) {
    const hn::RebindToUnsigned<Floats> bits;
    const auto row = hn::Load(Words(), rows + i);
    const Vec a = hn::BitCast(f, hn::TruncateTo(bits, row));
    const Vec b = hn::BitCast(f, hn::TruncateTo(bits, hn::ShiftRight<32>(row)));
    const Vec w = weights<kKind>(a, b, c);
    Vec g = hn::Mul(slopes, hn::Load(f, values + i));
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
    hn::Store(hn::Or(new_a, hn::ShiftLeft<32>(new_b)), Words(), rows + i);
  }
}

template <OptimizerKind kKind>
Loss learn(const RowRule& rule, RowPointers rows, const TableView& table) {
  thread_local Workspace space;
  const Constants c = constants_of(rule);
  ScoreLoss loss(rule.loss);
  for (std::size_t i = 0; i < std::min(kKeysAhead, rows.size()); ++i) {
    prefetch_keys<1>(rows[i], table, space.places_of(i));
  }
  Scratch& all = space.gathered;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) prefetch_row(rows[i + kRowsAhead]);
    const std::size_t ahead = i + kKeysAhead;
    Scratch& next = space.places_of(ahead);
    std::size_t asked = 0;
    if (ahead < rows.size()) asked = find_places(rows[ahead], table, next);
    prefetch<1>(next, 0, asked / 4);
    const RowView row = row_at(rows[i]);
    const std::uint64_t* places = space.places_of(i).words();
    all.make_room(row.keys.size());
    std::ranges::copy(row.values, all.floats());
    const float score = gather<kKind>(row, rule, places, all);
    prefetch<1>(next, asked / 4, asked / 2);
    const float slope = loss.add(score, row.label);
    prefetch<1>(next, asked / 2, 3 * asked / 4);
    change<kKind>(all, slope, rule, c);
    prefetch<1>(next, 3 * asked / 4, asked);
    std::fill_n(all.floats(), row.values.size(), 1.0F);
    for (std::size_t k = 0; k < row.keys.size(); ++k) {
      store(row_at_place(places[k]), std::bit_cast<TableRow>(all.words()[k]));
    }
  }
  return loss.loss();
}

template <OptimizerKind kKind>
void score(const RowRule& rule, RowPointers rows, const TableView& table, float* scores) {
  thread_local Workspace space;
  for (std::size_t i = 0; i < std::min(kKeysAhead, rows.size()); ++i) {
    prefetch_keys<0>(rows[i], table, space.places_of(i));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kRowsAhead < rows.size()) prefetch_row(rows[i + kRowsAhead]);
    const std::size_t ahead = i + kKeysAhead;
    if (ahead < rows.size()) prefetch_keys<0>(rows[ahead], table, space.places_of(ahead));
    const RowView row = row_at(rows[i]);
    space.gathered.make_room(row.keys.size());
    scores[i] = gather<kKind>(row, rule, space.places_of(i).words(), space.gathered);
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

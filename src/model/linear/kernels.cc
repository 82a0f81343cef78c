#include "model/linear/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/range.h"

// Accumulators are arrays of vectors, which vectors of unknown length cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/linear/kernels.cc"
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace paceline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Eight lanes at most: with more, too few blocks of an image are empty.
using F = hn::CappedTag<float, 8>;
using V = hn::Vec<F>;
constexpr F kF;
constexpr std::size_t kLanes = hn::MaxLanes(kF);

// The bytes of one block, seen as one integer.
using BlockInt = hwy::UnsignedFromSize<kLanes>;
constexpr hn::ScalableTag<BlockInt> kBlockInts;

constexpr std::size_t kMaxTile = LinearScratch::kClassesPerTile;

HWY_INLINE V load_block(const std::uint8_t* bytes) {
  const hn::Rebind<std::uint8_t, F> u8;
  const hn::Rebind<std::int32_t, F> i32;
  return hn::ConvertTo(kF, hn::PromoteTo(i32, hn::LoadU(u8, bytes)));
}

// Bits of the blocks [begin, end) of a row that are not zero; at most 64 of them.
HWY_INLINE std::uint64_t nonzero_blocks(const std::uint8_t* row, std::size_t begin,
                                        std::size_t end) {
  const std::size_t step = hn::Lanes(kBlockInts);
  std::uint64_t bits = 0;
  std::size_t b = begin;
  for (; b + step <= end; b += step) {
    const auto blocks = hn::LoadU(kBlockInts, reinterpret_cast<const BlockInt*>(row + b * kLanes));
    const auto zero = hn::Eq(blocks, hn::Zero(kBlockInts));
    std::uint8_t zero_bits[8] = {};
    hn::StoreMaskBits(kBlockInts, zero, zero_bits);
    const std::uint64_t nonzero = ~std::uint64_t{zero_bits[0]} & ((1u << step) - 1);
    bits |= nonzero << (b - begin);
  }
  for (; b < end; ++b) {
    BlockInt block;
    std::memcpy(&block, row + b * kLanes, sizeof block);
    bits |= std::uint64_t{block != 0} << (b - begin);
  }
  return bits;
}

// Sums of the lanes of each of kLanes vectors, as the lanes of one vector: a transposition
// that adds as it goes.
HWY_INLINE V sums_of_lanes(const V* v) {
#if HWY_TARGET == HWY_SCALAR
  return v[0];
#else
  const hn::Repartition<double, F> f64;
  V quads[2];
#pragma GCC unroll 2
  for (std::size_t q = 0; q < kLanes / 4; ++q) {
    const V* w = v + 4 * q;
    const V ab = hn::Add(hn::InterleaveLower(kF, w[0], w[1]), hn::InterleaveUpper(kF, w[0], w[1]));
    const V cd = hn::Add(hn::InterleaveLower(kF, w[2], w[3]), hn::InterleaveUpper(kF, w[2], w[3]));
    const auto ab2 = hn::BitCast(f64, ab);
    const auto cd2 = hn::BitCast(f64, cd);
    quads[q] = hn::Add(hn::BitCast(kF, hn::InterleaveLower(f64, ab2, cd2)),
                       hn::BitCast(kF, hn::InterleaveUpper(f64, ab2, cd2)));
  }
#if HWY_MAX_BYTES >= 32
  return hn::Add(hn::ConcatLowerLower(kF, quads[1], quads[0]),
                 hn::ConcatUpperUpper(kF, quads[1], quads[0]));
#else
  return quads[0];
#endif
#endif
}

// Words of a mark: one bit per row.
HWY_INLINE std::size_t mark_words(std::size_t rows) {
  return (rows + 63) / 64;
}

// Adds to outputs[e, first…first+C) what the blocks [begin, end) contribute, at most 64 of
// them, and marks those that are not zero.
template <std::size_t C>
HWY_INLINE void forward_blocks(std::span<const std::uint8_t* const> rows, const float* weight,
                               std::size_t first, std::size_t begin, std::size_t end,
                               LinearScratch& scratch) {
  constexpr std::size_t kPadded = (C + kLanes - 1) / kLanes * kLanes;
  const std::size_t width = scratch.width();
  const std::size_t words = mark_words(rows.size());
  for (std::size_t e = 0; e < rows.size(); ++e) {
    std::uint64_t* mark = scratch.marks() + e / 64;
    const std::uint64_t bit = std::uint64_t{1} << (e % 64);
    V sums[kPadded];
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kPadded; ++c) sums[c] = hn::Zero(kF);

    std::uint64_t bits = nonzero_blocks(rows[e], begin, end);
    const float* tile = weight + first * width;
    const auto take = [&]() HWY_ATTR {
      const std::size_t b = begin + static_cast<std::size_t>(std::countr_zero(bits));
      bits &= bits - 1;
      mark[b * words] |= bit;
      return b * kLanes;
    };
    if (std::popcount(bits) % 2 != 0) {
      const std::size_t i = take();
      const V x = load_block(rows[e] + i);
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) {
        sums[c] = hn::MulAdd(x, hn::LoadU(kF, tile + i + c * width), sums[c]);
      }
    }
    while (bits != 0) {
      const std::size_t i = take();
      const std::size_t j = take();
      const V x = load_block(rows[e] + i);
      const V y = load_block(rows[e] + j);
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) {
        sums[c] = hn::MulAdd(x, hn::LoadU(kF, tile + i + c * width), sums[c]);
        sums[c] = hn::MulAdd(y, hn::LoadU(kF, tile + j + c * width), sums[c]);
      }
    }
    float* outputs = scratch.outputs(e) + first;
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kPadded; c += kLanes) {
      const V before = begin == 0 ? hn::Zero(kF) : hn::LoadU(kF, outputs + c);
      hn::StoreU(hn::Add(before, sums_of_lanes(sums + c)), kF, outputs + c);
    }
  }
}

// outputs[e, first…first+C) for every row. The outer loop is over groups of blocks, so
// that the weights of a group stay in the first-level cache from one row to the next.
template <std::size_t C>
void forward_tile(std::span<const std::uint8_t* const> rows, const float* weight, std::size_t first,
                  LinearScratch& scratch) {
  const std::size_t width = scratch.width();
  const std::size_t blocks = width / kLanes;
  const std::size_t groups = std::max<std::size_t>(1, (blocks + 63) / 64);
  for (std::size_t g = 0; g < groups; ++g) {
    const Range group = even_part(blocks, groups, g);
    forward_blocks<C>(rows, weight, first, group.begin, group.end, scratch);
  }
  for (std::size_t e = 0; e < rows.size(); ++e) {
    float* outputs = scratch.outputs(e) + first;
    for (std::size_t i = blocks * kLanes; i < width; ++i) {
      for (std::size_t c = 0; c < C; ++c) {
        outputs[c] += weight[(first + c) * width + i] * static_cast<float>(rows[e][i]);
      }
    }
  }
}

// gradient[first…first+C, :], each float of it written once.
template <std::size_t C>
void backward_tile(std::span<const std::uint8_t* const> rows, LinearScratch& scratch,
                   std::size_t first, float* gradient, Store store) {
  const std::size_t width = scratch.width();
  const std::size_t blocks = width / kLanes;
  const std::size_t words = mark_words(rows.size());
  const std::size_t stride = scratch.stride();
  const float* errors = scratch.outputs(0) + first;
  float* tile = gradient + first * width;
  for (std::size_t b = 0; b < blocks; ++b) {
    V sums[C];
    float* g = tile + b * kLanes;
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) {
      sums[c] = store == Store::kAdd ? hn::LoadU(kF, g + c * width) : hn::Zero(kF);
    }
    for (std::size_t word = 0; word < words; ++word) {
      std::uint64_t bits = scratch.marks()[b * words + word];
      for (; bits != 0; bits &= bits - 1) {
        const std::size_t e = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        const V x = load_block(rows[e] + b * kLanes);
        const float* error = errors + e * stride;
#pragma GCC unroll 16
        for (std::size_t c = 0; c < C; ++c) {
          sums[c] = hn::MulAdd(x, hn::Set(kF, error[c]), sums[c]);
        }
      }
    }
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) hn::StoreU(sums[c], kF, g + c * width);
  }
  for (std::size_t i = blocks * kLanes; i < width; ++i) {
    for (std::size_t c = 0; c < C; ++c) {
      float sum = store == Store::kAdd ? tile[c * width + i] : 0;
      for (std::size_t e = 0; e < rows.size(); ++e) {
        sum += errors[e * stride + c] * static_cast<float>(rows[e][i]);
      }
      tile[c * width + i] = sum;
    }
  }
}

// Calls body(size, first) for tiles of nearly equal size that cover the classes; `size` is
// a compile-time constant.
template <typename Body, std::size_t... I>
void with_size(std::size_t size, const Body& body, std::index_sequence<I...>) {
  ((size == I + 1 ? body(std::integral_constant<std::size_t, I + 1>()) : void()), ...);
}
template <typename Body>
void for_each_tile(std::size_t classes, const Body& body) {
  const std::size_t tiles = (classes + kMaxTile - 1) / kMaxTile;
  for (std::size_t t = 0; t < tiles; ++t) {
    const Range tile = even_part(classes, tiles, t);
    with_size(
        tile.size(), [&](auto size) HWY_ATTR { body(size, tile.begin); },
        std::make_index_sequence<kMaxTile>());
  }
}

void forward(std::span<const std::uint8_t* const> rows, const float* weight,
             LinearScratch& scratch) {
  const std::size_t blocks = scratch.width() / kLanes;
  std::fill_n(scratch.marks(), blocks * mark_words(rows.size()), 0);
  for_each_tile(scratch.classes(), [&](auto size, std::size_t first) HWY_ATTR {
    forward_tile<size>(rows, weight, first, scratch);
  });
}

void backward(std::span<const std::uint8_t* const> rows, LinearScratch& scratch, float* gradient,
              Store store) {
  for_each_tile(scratch.classes(), [&](auto size, std::size_t first) HWY_ATTR {
    backward_tile<size>(rows, scratch, first, gradient, store);
  });
}

// e^x for x ≤ 0; unlike hn::Exp, of what is not a number too.
HWY_INLINE V exp_or_nan(V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(kF, x));
}

SoftmaxTerms softmax(float* row, std::size_t classes, std::size_t label, float scale,
                     const float* bias) {
  const V lowest = hn::Set(kF, std::numeric_limits<float>::lowest());
  V largest = lowest;
  for (std::size_t i = 0; i < classes; i += kLanes) {
    const V logits = hn::MulAdd(hn::Load(kF, row + i), hn::Set(kF, scale), hn::Load(kF, bias + i));
    const V padded = hn::IfThenElse(hn::FirstN(kF, classes - i), logits, lowest);
    hn::Store(padded, kF, row + i);
    largest = hn::Max(largest, padded);
  }
  largest = hn::MaxOfLanes(kF, largest);
  SoftmaxTerms terms;
  terms.gap = hn::GetLane(largest) - row[label];
  auto as_large_before = hn::FirstN(kF, 0);
  V sum = hn::Zero(kF);
  for (std::size_t i = 0; i < classes; i += kLanes) {
    const V logits = hn::Load(kF, row + i);
    const auto before = hn::FirstN(kF, std::max(label, i) - i);
    as_large_before = hn::Or(as_large_before, hn::And(before, hn::Eq(logits, largest)));
    const V power = exp_or_nan(hn::Sub(logits, largest));
    hn::Store(power, kF, row + i);
    sum = hn::Add(sum, power);
  }
  sum = hn::SumOfLanes(kF, sum);
  terms.sum = hn::GetLane(sum);
  terms.correct = terms.gap == 0 && !std::isnan(terms.sum) && hn::AllFalse(kF, as_large_before);
  const V inverse = hn::Div(hn::Set(kF, 1), sum);
  for (std::size_t i = 0; i < classes; i += kLanes) {
    hn::Store(hn::Mul(hn::Load(kF, row + i), inverse), kF, row + i);
  }
  return terms;
}

void softmax_all(std::span<const std::int32_t> labels, float scale, LinearScratch& scratch,
                 SoftmaxTerms* terms) {
  for (std::size_t e = 0; e < labels.size(); ++e) {
    terms[e] = softmax(scratch.outputs(e), scratch.classes(), static_cast<std::size_t>(labels[e]),
                       scale, scratch.bias());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(backward);
HWY_EXPORT(softmax_all);

constexpr std::size_t kWidestVector = 8;  // floats, see F
constexpr std::size_t kSmallestBlock = 1;

// Tiles store whole vectors, the last of which may reach past the last class.
std::size_t padded(std::size_t classes) {
  const std::size_t vectors = (classes + kWidestVector - 1) / kWidestVector;
  return (vectors + (classes > LinearScratch::kClassesPerTile ? 1 : 0)) * kWidestVector;
}

}  // namespace

LinearScratch::LinearScratch(std::size_t width, std::size_t classes)
    : width_(width),
      classes_(classes),
      stride_(padded(classes)),
      outputs_(Buffer::floats(kRowsPerPass * stride_)),
      bias_(Buffer::floats(stride_)),
      marks_(Buffer::zeros(width / kSmallestBlock * kRowsPerPass / 8)) {}

void linear_forward(std::span<const std::uint8_t* const> rows, const float* weight,
                    LinearScratch& scratch) {
  PACELINE_CHECK(rows.size() <= LinearScratch::kRowsPerPass);
  HWY_DYNAMIC_DISPATCH(forward)(rows, weight, scratch);
}

void softmax_rows(std::span<const std::int32_t> labels, float scale, const float* bias,
                  LinearScratch& scratch, std::span<SoftmaxTerms> terms) {
  PACELINE_CHECK(labels.size() <= LinearScratch::kRowsPerPass && terms.size() == labels.size());
  std::copy_n(bias, scratch.classes(), scratch.bias());
  HWY_DYNAMIC_DISPATCH(softmax_all)(labels, scale, scratch, terms.data());
}

void linear_backward(std::span<const std::uint8_t* const> rows, LinearScratch& scratch,
                     float* gradient, Store store) {
  PACELINE_CHECK(rows.size() <= LinearScratch::kRowsPerPass);
  HWY_DYNAMIC_DISPATCH(backward)(rows, scratch, gradient, store);
}

}  // namespace paceline
#endif

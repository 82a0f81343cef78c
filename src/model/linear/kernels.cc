#include "model/linear/kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/range.h"

// Accumulators are arrays of vectors, which vectors of unknown length cannot be in.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/linear/kernels.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles what follows once per instruction set
#include <hwy/highway.h>

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
HWY_INLINE std::uint64_t nonzero_blocks(const std::uint8_t* row, const Range& blocks) {
  const std::uint8_t* first = row + blocks.begin * kLanes;
  const std::size_t count = blocks.size();
  const std::size_t step = hn::Lanes(kBlockInts);
  std::uint64_t zeros = 0;
  std::size_t b = 0;
#pragma GCC unroll 4
  for (; b + step <= count; b += step) {
    const auto* some = reinterpret_cast<const BlockInt*>(first + b * kLanes);
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(kBlockInts, hn::Eq(hn::LoadU(kBlockInts, some), hn::Zero(kBlockInts)), bits);
    zeros |= std::uint64_t{bits[0]} << b;
  }
  for (; b < count; ++b) {
    BlockInt block;
    std::memcpy(&block, first + b * kLanes, sizeof block);
    zeros |= std::uint64_t{block == 0} << b;
  }
  return count == 0 ? 0 : ~zeros & (~std::uint64_t{0} >> (64 - count));
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

using Rows = std::span<const std::uint8_t* const>;

HWY_INLINE std::size_t mark_words(std::size_t rows) {
  return (rows + 63) / 64;
}

// Blocks are cut into groups of at most 64; there is always one, if only an empty one.
HWY_INLINE std::size_t group_count(std::size_t blocks) {
  return std::max<std::size_t>(1, (blocks + 63) / 64);
}

// Shuffled rows lie anywhere in memory, where the processor cannot guess the next one:
// asking for them ahead of time makes a step on shuffled MNIST a tenth shorter.
HWY_INLINE void prefetch(const std::uint8_t* row, std::size_t width) {
  constexpr std::size_t kCacheLine = 64;
  for (std::size_t i = 0; i < width; i += kCacheLine) hwy::Prefetch(row + i);
}

// All rows are looked at before the first is multiplied: the loop over the blocks of a row
// ends unpredictably, and what follows should not have to start with a search.
void mark_rows(Rows rows, LinearScratch& scratch) {
  constexpr std::size_t kRowsAhead = 4;
  const std::size_t blocks = scratch.width() / kLanes;
  const std::size_t groups = group_count(blocks);
  for (std::size_t g = 0; g < groups; ++g) {
    const Range group = even_part(blocks, groups, g);
    std::uint64_t* marks = scratch.row_marks() + g * LinearScratch::kRowsPerPass;
    for (std::size_t e = 0; e < rows.size(); ++e) {
      if (g == 0 && e + kRowsAhead < rows.size()) prefetch(rows[e + kRowsAhead], scratch.width());
      marks[e] = nonzero_blocks(rows[e], group);
    }
  }
  std::fill_n(scratch.block_marks(), blocks * mark_words(rows.size()), 0);
}

// Calls body(b) for the blocks of `group` whose bits are set. When nearly all are, it is
// cheaper to take all of them in order.
template <typename Body>
HWY_INLINE void for_each_marked(std::uint64_t bits, const Range& group, const Body& body) {
  if (static_cast<std::size_t>(std::popcount(bits)) * 4 > group.size() * 3) {
    for (std::size_t b = group.begin; b < group.end; ++b) body(b);
  } else {
    for (; bits != 0; bits &= bits - 1) {
      body(group.begin + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }
}

// What the blocks of group g contribute to outputs[e, first…first+C); marks those used.
template <std::size_t C>
HWY_INLINE void forward_group(Rows rows, const float* weight, std::size_t first, std::size_t g,
                              const Range& group, LinearScratch& scratch) {
  constexpr std::size_t kPadded = (C + kLanes - 1) / kLanes * kLanes;
  const std::size_t width = scratch.width();
  const std::size_t words = mark_words(rows.size());
  const float* tile = weight + first * width;
  for (std::size_t e = 0; e < rows.size(); ++e) {
    const std::uint8_t* row = rows[e];
    std::uint64_t* mark = scratch.block_marks() + e / 64;
    const std::uint64_t bit = std::uint64_t{1} << (e % 64);
    V sums[kPadded];
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kPadded; ++c) sums[c] = hn::Zero(kF);

    const std::uint64_t bits = scratch.row_marks()[g * LinearScratch::kRowsPerPass + e];
    for_each_marked(bits, group, [&](std::size_t b) HWY_ATTR {
      mark[b * words] |= bit;
      const V x = load_block(row + b * kLanes);
      const float* w = tile + b * kLanes;
#pragma GCC unroll 16
      for (std::size_t c = 0; c < C; ++c) {
        sums[c] = hn::MulAdd(x, hn::LoadU(kF, w + c * width), sums[c]);
      }
    });

    float* outputs = scratch.outputs(e) + first;
#pragma GCC unroll 16
    for (std::size_t c = 0; c < kPadded; c += kLanes) {
      const V before = g == 0 ? hn::Zero(kF) : hn::LoadU(kF, outputs + c);
      hn::StoreU(hn::Add(before, sums_of_lanes(sums + c)), kF, outputs + c);
    }
  }
}

// outputs[e, first…first+C) for every row. The outer loop is over groups of blocks, so
// that the weights of a group stay in the first-level cache from one row to the next.
template <std::size_t C>
void forward_tile(Rows rows, const float* weight, std::size_t first, LinearScratch& scratch) {
  const std::size_t width = scratch.width();
  const std::size_t blocks = width / kLanes;
  const std::size_t groups = group_count(blocks);
  for (std::size_t g = 0; g < groups; ++g) {
    forward_group<C>(rows, weight, first, g, even_part(blocks, groups, g), scratch);
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

// gradient[first…first+C, i] for the bytes that fill no block.
template <std::size_t C>
void backward_rest(Rows rows, LinearScratch& scratch, std::size_t first, float* gradient,
                   Store store) {
  const std::size_t width = scratch.width();
  for (std::size_t i = width / kLanes * kLanes; i < width; ++i) {
    for (std::size_t c = first; c < first + C; ++c) {
      float sum = store == Store::kAdd ? gradient[c * width + i] : 0;
      for (std::size_t e = 0; e < rows.size(); ++e) {
        sum += scratch.outputs(e)[c] * static_cast<float>(rows[e][i]);
      }
      gradient[c * width + i] = sum;
    }
  }
}

// gradient[first…first+C, :]: the sums of a block stay in registers while all rows that are
// not zero there are added, so that each float is written once.
template <std::size_t C>
void backward_tile(Rows rows, LinearScratch& scratch, std::size_t first, float* gradient,
                   Store store) {
  const std::size_t width = scratch.width();
  const std::size_t words = mark_words(rows.size());
  const std::size_t stride = scratch.stride();
  const float* errors = scratch.outputs(0) + first;
  const std::uint64_t* mark = scratch.block_marks();
  for (std::size_t i = 0; i + kLanes <= width; i += kLanes) {
    float* g = gradient + first * width + i;
    V sums[C];
#pragma GCC unroll 16
    for (std::size_t c = 0; c < C; ++c) {
      sums[c] = store == Store::kAdd ? hn::LoadU(kF, g + c * width) : hn::Zero(kF);
    }
    for (std::size_t word = 0; word < words; ++word) {
      for (std::uint64_t bits = *mark++; bits != 0; bits &= bits - 1) {
        const std::size_t e = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        const V x = load_block(rows[e] + i);
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
  backward_rest<C>(rows, scratch, first, gradient, store);
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

void forward(Rows rows, const float* weight, LinearScratch& scratch) {
  mark_rows(rows, scratch);
  for_each_tile(scratch.classes(), [&](auto size, std::size_t first) HWY_ATTR {
    forward_tile<size>(rows, weight, first, scratch);
  });
}

void backward(Rows rows, LinearScratch& scratch, float* gradient, Store store) {
  for_each_tile(scratch.classes(), [&](auto size, std::size_t first) HWY_ATTR {
    backward_tile<size>(rows, scratch, first, gradient, store);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace paceline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paceline {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

constexpr std::size_t kWidestVector = 8;  // floats; see F
constexpr std::size_t kWord = sizeof(std::uint64_t);

// Tiles store whole vectors, the last of which may reach past the last class.
std::size_t padded(std::size_t classes) {
  const std::size_t vectors = (classes + kWidestVector - 1) / kWidestVector;
  return (vectors + (classes > LinearScratch::kClassesPerTile ? 1 : 0)) * kWidestVector;
}

}  // namespace

// Marks have room for blocks of one byte, the smallest.
LinearScratch::LinearScratch(std::size_t width, std::size_t classes)
    : width_(width),
      classes_(classes),
      stride_(padded(classes)),
      outputs_(Buffer::floats(kRowsPerPass * stride_)),
      bias_(Buffer::floats(stride_)),
      row_marks_(Buffer::zeros((width + 63) / 64 * kRowsPerPass * kWord)),
      block_marks_(Buffer::zeros(width * kRowsPerPass / 64 * kWord)) {}

void linear_forward(std::span<const std::uint8_t* const> rows, const float* weight,
                    LinearScratch& scratch) {
  PACELINE_CHECK(rows.size() <= LinearScratch::kRowsPerPass);
  HWY_DYNAMIC_DISPATCH(forward)(rows, weight, scratch);
}

void linear_backward(std::span<const std::uint8_t* const> rows, LinearScratch& scratch,
                     float* gradient, Store store) {
  PACELINE_CHECK(rows.size() <= LinearScratch::kRowsPerPass);
  HWY_DYNAMIC_DISPATCH(backward)(rows, scratch, gradient, store);
}

}  // namespace paceline
#endif

#include "data/order.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace paceline {
namespace {

// What the random bits at (seed, {purpose, epoch, …}) are for.
enum Purpose : std::uint64_t { kRows, kBlockSlots, kTailWindow };

// The blocks of an epoch stand in shuffled slots, and `window` neighbouring slots are a
// window; rows are shuffled inside their window. When the block size does not divide the
// examples, the short last block (the tail) has no slot of its own: it joins a window
// that is drawn for each epoch, which is longer by its rows. So every window has a known
// place and length, and each position is found without walking over the ones before.
std::uint64_t example_in_blocks(const OrderOptions& options, std::uint64_t examples,
                                std::uint64_t epoch, std::uint64_t position) {
  const std::uint64_t block = std::min(options.block, examples);
  const std::uint64_t blocks = examples / block;
  const std::uint64_t tail = examples % block;
  const std::uint64_t slots_per_window = std::min(options.window, blocks);
  const std::uint64_t window_rows = slots_per_window * block;
  const std::uint64_t windows = (blocks + slots_per_window - 1) / slots_per_window;
  const std::uint64_t tail_window =
      Random(random_bits(options.seed, {kTailWindow, epoch})).below(windows);

  std::uint64_t window = std::min(position / window_rows, tail_window);
  std::uint64_t begin = window * window_rows;
  const auto slots_of = [&](std::uint64_t w) {
    return std::min(slots_per_window, blocks - w * slots_per_window);
  };
  const std::uint64_t tail_window_end =
      tail_window * window_rows + slots_of(tail_window) * block + tail;
  if (position >= tail_window_end) {
    window = (position - tail) / window_rows;
    begin = window * window_rows + tail;
  }

  const std::uint64_t full_rows = slots_of(window) * block;
  const std::uint64_t rows = full_rows + (window == tail_window ? tail : 0);
  const std::uint64_t row =
      Permutation(random_bits(options.seed, {kRows, epoch, window}), rows).apply(position - begin);
  if (row >= full_rows) return blocks * block + (row - full_rows);
  const std::uint64_t slot = window * slots_per_window + row / block;
  const Permutation block_in_slot(random_bits(options.seed, {kBlockSlots, epoch}), blocks);
  return block_in_slot.apply(slot) * block + row % block;
}

}  // namespace

Order::Order(const OrderOptions& options, std::uint64_t examples)
    : options_(options), examples_(examples) {
  if (options.kind == OrderKind::kBlocks && (options.block == 0 || options.window == 0)) {
    throw ConfigError(
        "order 'blocks': a block of {} rows and a window of {} blocks: each must be "
        "at least 1",
        options.block, options.window);
  }
}

std::uint64_t Order::example(std::uint64_t epoch, std::uint64_t position) const {
  PACELINE_CHECK(position < examples_);
  switch (options_.kind) {
    case OrderKind::kFull:
      return Permutation(random_bits(options_.seed, {kRows, epoch}), examples_).apply(position);
    case OrderKind::kBlocks:
      return example_in_blocks(options_, examples_, epoch, position);
    case OrderKind::kSequential:
      break;
  }
  return position;
}

}  // namespace paceline

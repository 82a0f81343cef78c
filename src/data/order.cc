#include "data/order.h"

#include <algorithm>
#include <numeric>
#include <vector>

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
class ShuffledBlocks {
 public:
  ShuffledBlocks(const OrderOptions& options, std::uint64_t examples, std::uint64_t epoch)
      : seed_(options.seed),
        epoch_(epoch),
        block_(std::min(options.block, examples)),
        blocks_(examples / block_),
        tail_(examples % block_),
        slots_(std::min(options.window, blocks_)),
        tail_window_(Random(random_bits(seed_, {kTailWindow, epoch}))
                         .below((blocks_ + slots_ - 1) / slots_)),
        block_in_slot_(random_bits(seed_, {kBlockSlots, epoch}), blocks_) {}

  // One of the windows, with all that its positions have in common.
  class Window {
   public:
    std::uint64_t end() const { return end_; }
    // Those at positions of the window, from this one on.
    void examples(std::uint64_t position, std::span<std::uint64_t> into) const {
      shuffled_.apply(position - begin_, into);
      for (std::uint64_t& row : into) {
        const std::uint64_t slot = row / block_;
        // Its blocks lie one after the other, then the tail.
        row = slot < blocks_.size() ? blocks_[slot] + row % block_
                                    : tail_ + (row - blocks_.size() * block_);
      }
    }

   private:
    friend class ShuffledBlocks;
    Window(std::uint64_t begin, std::uint64_t rows, std::uint64_t block, Permutation shuffled)
        : begin_(begin), end_(begin + rows), block_(block), shuffled_(shuffled) {}

    std::uint64_t begin_;
    std::uint64_t end_;
    std::uint64_t block_;
    Permutation shuffled_;
    std::vector<std::uint64_t> blocks_;  // the first example of each
    std::uint64_t tail_ = 0;             // the first of the tail
  };

  Window window_of(std::uint64_t position) const {
    const std::uint64_t window_rows = slots_ * block_;
    std::uint64_t number = std::min(position / window_rows, tail_window_);
    std::uint64_t begin = number * window_rows;
    if (position >= tail_window_ * window_rows + rows(tail_window_)) {
      number = (position - tail_) / window_rows;
      begin = number * window_rows + tail_;
    }
    const std::uint64_t seed = random_bits(seed_, {kRows, epoch_, number});
    Window window(begin, rows(number), block_, Permutation(seed, rows(number)));
    for (std::uint64_t slot = 0; slot < slots(number); ++slot) {
      window.blocks_.push_back(block_in_slot_.apply(number * slots_ + slot) * block_);
    }
    window.tail_ = blocks_ * block_;
    return window;
  }

 private:
  std::uint64_t slots(std::uint64_t window) const {
    return std::min(slots_, blocks_ - window * slots_);
  }
  std::uint64_t rows(std::uint64_t window) const {
    return slots(window) * block_ + (window == tail_window_ ? tail_ : 0);
  }

  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::uint64_t block_;   // rows of a block
  std::uint64_t blocks_;  // whole ones
  std::uint64_t tail_;    // rows after them
  std::uint64_t slots_;   // of a window; the last may have fewer
  std::uint64_t tail_window_;
  Permutation block_in_slot_;
};

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
  std::uint64_t found = 0;
  examples(epoch, {position, position + 1}, {&found, 1});
  return found;
}

void Order::examples(std::uint64_t epoch, Range positions, std::span<std::uint64_t> into) const {
  if (positions.empty()) return;
  PACELINE_CHECK(positions.end <= examples_ && into.size() == positions.size());
  switch (options_.kind) {
    case OrderKind::kFull:
      Permutation(random_bits(options_.seed, {kRows, epoch}), examples_)
          .apply(positions.begin, into);
      return;
    case OrderKind::kBlocks: {
      const ShuffledBlocks shuffled(options_, examples_, epoch);
      for (std::uint64_t position = positions.begin; position < positions.end;) {
        const ShuffledBlocks::Window window = shuffled.window_of(position);
        const std::uint64_t end = std::min(window.end(), positions.end);
        window.examples(position, into.subspan(position - positions.begin, end - position));
        position = end;
      }
      return;
    }
    case OrderKind::kSequential:
      std::iota(into.begin(), into.end(), positions.begin);
  }
}

}  // namespace paceline

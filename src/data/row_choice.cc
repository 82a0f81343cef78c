#include "data/row_choice.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <mutex>
#include <thread>

#include "base/process.h"
#include "data/text_source.h"

namespace paceline {
namespace {

// Calls `visit` with every number below `count`, from as many threads as there are processors.
void for_each_in_threads(std::uint64_t count, const std::function<void(std::uint64_t)>& visit) {
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  std::uint64_t failed = count;  // the first that did
  const auto work = [&] {
    for (std::uint64_t number = next++; number < count; number = next++) {
      try {
        visit(number);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count;
        if (number < failed) error = std::current_exception();
        failed = std::min(failed, number);
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::uint64_t most = available_cores();
    while (threads.size() + 1 < std::min(most, count)) threads.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

RowChoice::RowChoice(const IdTable& table)
    : rows_(table.rows), block_rows_(table.block_rows), blocks_(table.blocks()) {}

void RowChoice::keep(const Choose& choose) {
  bits_.assign(blocks_ * ((block_rows_ + 63) / 64), 0);
  for_each_in_threads(blocks_, [&](std::uint64_t block) { choose(block, bits(block)); });
  count();
}

void RowChoice::sample(std::uint64_t limit) {
  Sample sample(examples(), limit);
  if (bits_.empty()) {
    keep([this](std::uint64_t block, std::span<std::uint64_t> all) {
      const std::uint64_t rows = std::min(block_rows_, rows_ - block * block_rows_);
      for (std::uint64_t i = 0; i < rows; ++i) all[i / 64] |= std::uint64_t{1} << (i % 64);
    });
  }
  for (std::uint64_t& word : bits_) {
    for (std::uint64_t left = word; left != 0; left &= left - 1) {
      if (!sample.takes()) word &= ~(left & -left);
    }
  }
  count();
}

void RowChoice::count() {
  firsts_.assign(blocks_ + 1, 0);
  for (std::uint64_t block = 0; block < blocks_; ++block) {
    firsts_[block + 1] = firsts_[block];
    for (const std::uint64_t word : bits(block)) {
      firsts_[block + 1] += static_cast<std::uint64_t>(std::popcount(word));
    }
  }
}

RowChoice::Place RowChoice::place(std::uint64_t example) const {
  if (firsts_.empty()) {
    return {example / block_rows_, static_cast<std::uint32_t>(example % block_rows_)};
  }
  const auto behind = std::upper_bound(firsts_.begin(), firsts_.end(), example);
  return {static_cast<std::uint64_t>(behind - firsts_.begin() - 1),
          static_cast<std::uint32_t>(example - *(behind - 1))};
}

std::span<std::uint64_t> RowChoice::bits(std::uint64_t block) {
  const std::uint64_t words = (block_rows_ + 63) / 64;
  return std::span(bits_).subspan(block * words, words);
}

std::span<const std::uint64_t> RowChoice::bits(std::uint64_t block) const {
  if (bits_.empty()) return {};
  const std::uint64_t words = (block_rows_ + 63) / 64;
  return std::span(bits_).subspan(block * words, words);
}

}  // namespace paceline

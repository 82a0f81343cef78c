#include "data/row_choice.h"

#include <algorithm>
#include <bit>

#include "base/process.h"
#include "base/threads.h"
#include "data/text_source.h"

namespace paceline {

RowChoice::RowChoice(const IdTable& table)
    : rows_(table.rows), block_rows_(table.block_rows), blocks_(table.blocks()) {}

void RowChoice::keep(const Choose& choose) {
  bits_.assign(blocks_ * ((block_rows_ + 63) / 64), 0);
  for_each_number(blocks_, available_cores(),
                  [&](std::size_t block) { choose(block, bits(block)); });
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

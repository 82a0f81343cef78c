// Which rows of a table that is read block by block are examples: all, or some, a bit for each.
//
// Examples are numbered in the order of the rows. One thread until it is made, then any number.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/prepared_ids.h"

namespace paceline {

class RowChoice {
 public:
  explicit RowChoice(const IdTable& table);  // all

  // Leaves out every row whose bit `choose` does not set. It is called for each block, from
  // several threads at once; what it throws for the first of the blocks is thrown.
  using Choose = std::function<void(std::uint64_t block, std::span<std::uint64_t> bits)>;
  void keep(const Choose& choose);

  // Leaves out all but a random sample of `limit` examples, always the same.
  void sample(std::uint64_t limit);

  std::uint64_t examples() const { return firsts_.empty() ? rows_ : firsts_.back(); }
  std::uint64_t memory_bytes() const { return (bits_.size() + firsts_.size()) * 8; }

  struct Place {
    std::uint64_t block = 0;
    std::uint32_t row = 0;  // among the chosen ones of the block
  };
  Place place(std::uint64_t example) const;

  // Of a block, a bit for each row; empty: all.
  std::span<const std::uint64_t> bits(std::uint64_t block) const;

 private:
  std::span<std::uint64_t> bits(std::uint64_t block);
  void count();

  std::uint64_t rows_;
  std::uint64_t block_rows_;
  std::uint64_t blocks_;
  std::vector<std::uint64_t> bits_;    // [blocks, words of a block]; empty: all
  std::vector<std::uint64_t> firsts_;  // [blocks + 1]: the first example of each
};

}  // namespace paceline

// Prepared reviews in memory, as batches want them (text.h): each its length and so many tokens.
//
// Reading checks every row of a block, chosen or not. Any number of threads; throws DataError
// naming the file and the row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "data/prepared_ids.h"
#include "data/text.h"

namespace paceline {

struct PreparedBlock {
  Buffer words;                       // rows, one behind the other
  std::vector<std::uint32_t> starts;  // of each in `words`; at the end: their number
  std::vector<std::uint8_t> labels;

  std::size_t size() const { return starts.size() - 1; }
  std::span<const std::int32_t> row(std::size_t number) const {  // its length in front
    const auto* first = reinterpret_cast<const std::int32_t*>(words.data());
    return {first + starts[number], starts[number + 1] - starts[number]};
  }
};

// What a row may have, and what is taken of it.
struct RowRules {
  std::uint32_t numbers = 0;  // tokens are below
  std::uint32_t length = 0;   // tokens that are taken, at most
  TextCut cut = TextCut::kEnd;
};

// The rows of `chosen` (a bit for each row of the block, from the lowest on), or all when it is
// empty. Labels are left to the caller.
PreparedBlock read_block(const PreparedIds& ids, std::uint64_t block, const RowRules& rules,
                         std::span<const std::uint64_t> chosen);

}  // namespace paceline

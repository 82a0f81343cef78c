// The order of the examples of an epoch, as an O(1) function that any process can ask
// for any position. Nothing is stored, nothing is sent.
//
//   kFull        every example anywhere
//   kBlocks      blocks of `block` rows shuffled, rows shuffled inside windows of
//                `window` blocks: for data that is large or compressed block by block
//   kSequential  as the data lies
#pragma once

#include <cstdint>
#include <span>

#include "base/range.h"

namespace paceline {

enum class OrderKind { kFull, kBlocks, kSequential };

struct OrderOptions {
  OrderKind kind = OrderKind::kFull;
  std::uint64_t seed = 0;
  std::uint64_t block = 1024;
  std::uint64_t window = 16;
};

class Order {
 public:
  Order(const OrderOptions& options, std::uint64_t examples);

  // The number of the example at `position` of `epoch`. For a fixed epoch this is a
  // permutation of [0, examples).
  std::uint64_t example(std::uint64_t epoch, std::uint64_t position) const;

  // The examples at `positions` of `epoch`, in their order: the same, but what is common
  // to an epoch is computed once.
  void examples(std::uint64_t epoch, Range positions, std::span<std::uint64_t> into) const;

 private:
  OrderOptions options_;
  std::uint64_t examples_;
};

}  // namespace paceline

// The keys that some rows touch: each once, ascending, and every row's keys as places in that
// list. What is computed from such rows needs a vector as long as the list, and no table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/sparse/row.h"

namespace paceline {

// Keeps its memory from one use to the next; one thread.
class TouchedKeys {
 public:
  // `hot` is the list that keys with their highest bit set are places in.
  void begin(std::span<const Key> hot);
  // Replaces keys by numbers, in the order of their first use; `keys` and `numbers` may be the
  // same.
  void number(std::span<const Key> keys, std::span<std::uint32_t> numbers);
  // The keys so far, ascending.
  void sort(std::vector<Key>& keys);
  // After sort(): replaces numbers by places in the list of keys.
  void place(std::span<std::uint32_t> numbers) const;

 private:
  std::uint32_t number_of(Key key);
  std::uint32_t add(std::size_t slot, Key key);
  void grow();

  struct Slot {
    Key key;
    std::uint32_t number;
  };
  std::span<const Key> hot_;
  std::vector<std::uint32_t> hot_numbers_;  // by place in hot_; none so far: kNone
  std::vector<Slot> slots_;                 // open addressing, at most half full
  int shift_ = 0;                           // 32 - the logarithm of their number
  std::vector<Key> found_;                  // by number
  std::vector<std::uint32_t> places_;       // number → place
  std::vector<std::uint64_t> sorting_;      // two halves: key and number in one word
};

}  // namespace paceline

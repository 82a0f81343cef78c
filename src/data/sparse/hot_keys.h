// The keys that many rows have.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/sparse/row.h"

namespace paceline {

inline constexpr std::size_t kMostHotKeys = 8192;

// Those that the sample has at least kLeastCount times; the most frequent first.
std::vector<Key> most_frequent_keys(std::vector<Key> sample);

// A list of keys in which a key is found without a branch that depends on it: a key can be in two
// places of a table and in no other. Of the keys that were given, those that find both taken by
// more frequent ones are left out.
class HotKeys {
 public:
  explicit HotKeys(std::span<const Key> most_frequent_first);

  const std::vector<Key>& keys() const { return keys_; }

  // Its place in the list with the highest bit set, or the key itself when it is not there.
  Key in_list(Key key) const {
    const Pair& pair = table_[slot(key)];
    const Key found = pair.keys[0] == key ? pair.places[0] : key;
    return pair.keys[1] == key ? pair.places[1] : found;
  }

 private:
  static constexpr Key kNone = ~Key{0};
  struct Pair {
    std::array<Key, 2> keys = {kNone, kNone};
    std::array<Key, 2> places{};
  };
  std::size_t slot(Key key) const { return (key * 0x9E3779B1U) >> shift_; }

  std::vector<Key> keys_;
  std::vector<Pair> table_;
  unsigned shift_ = 0;
};

}  // namespace paceline

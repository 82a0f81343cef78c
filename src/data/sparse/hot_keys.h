// The keys that many rows have.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "data/sparse/row.h"

namespace paceline {

inline constexpr std::size_t kMostHotKeys = 8192;

// Those that the sample has at least kLeastCount times; the most frequent first.
std::vector<Key> most_frequent_keys(std::vector<Key> sample);

// A list of keys in which a key is found quickly.
class HotKeys {
 public:
  explicit HotKeys(std::vector<Key> keys);

  const std::vector<Key>& keys() const { return keys_; }

  // Its place in the list with the highest bit set, or the key itself when it is not there.
  Key in_list(Key key) const {
    for (std::size_t at = slot(key);; at = (at + 1) & mask_) {
      if (table_[at].key == key) return table_[at].place;
      if (table_[at].place == kNone) return key;
    }
  }

 private:
  static constexpr Key kNone = 0;
  struct Entry {
    Key key = 0;
    Key place = kNone;
  };
  std::size_t slot(Key key) const { return (key * 0x9E3779B1U) >> shift_; }

  std::vector<Key> keys_;
  std::vector<Entry> table_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
};

}  // namespace paceline

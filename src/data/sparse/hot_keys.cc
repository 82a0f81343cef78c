#include "data/sparse/hot_keys.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace paceline {

std::vector<Key> most_frequent_keys(std::vector<Key> sample) {
  constexpr std::size_t kLeastCount = 8;
  std::sort(sample.begin(), sample.end());
  std::vector<std::pair<std::size_t, Key>> counts;
  for (auto at = sample.begin(); at != sample.end();) {
    const auto end =
        std::find_if(at, sample.end(), [key = *at](Key other) { return other != key; });
    const auto count = static_cast<std::size_t>(end - at);
    if (count >= kLeastCount) counts.emplace_back(count, *at);
    at = end;
  }
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  counts.resize(std::min(counts.size(), kMostHotKeys));
  std::vector<Key> keys;
  keys.reserve(counts.size());
  for (const auto& [count, key] : counts) keys.push_back(key);
  return keys;
}

HotKeys::HotKeys(std::span<const Key> most_frequent_first) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(2, most_frequent_first.size() * 2));
  table_.resize(size);
  shift_ = 32U - static_cast<unsigned>(std::countr_zero(size));
  for (const Key key : most_frequent_first) {
    Pair& pair = table_[slot(key)];
    const std::size_t at = pair.keys[0] == kNone ? 0 : 1;
    if (pair.keys[at] != kNone) continue;
    pair.keys[at] = key;
    pair.places[at] = kHotBit | static_cast<Key>(keys_.size());
    keys_.push_back(key);
  }
}

}  // namespace paceline

#include "data/sparse/hot_keys.h"

#include <algorithm>
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
  for (const auto& [count, key] : counts) keys.push_back(key);
  return keys;
}

HotKeys::HotKeys(std::vector<Key> keys) : keys_(std::move(keys)) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(2, keys_.size() * 2));
  table_.resize(size);
  mask_ = size - 1;
  shift_ = 32U - static_cast<unsigned>(std::bit_width(mask_));
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::size_t at = slot(keys_[i]);
    while (table_[at].place != kNone) at = (at + 1) & mask_;
    table_[at] = {keys_[i], kHotBit | static_cast<Key>(i)};
  }
}

}  // namespace paceline

#include "data/sparse/touched.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace paceline {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr std::size_t kFirstSlots = std::size_t{1} << 12;

// Sorts words by the key in their upper half, digit by digit from the lowest; `first` and `second`
// take turns. Returns where the result is.
std::uint64_t* sort_by_key(std::uint64_t* first, std::uint64_t* second, std::size_t count) {
  constexpr int kDigit = 11;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, first[i] >> 32);
  for (int shift = 32; shift < 32 + static_cast<int>(std::bit_width(largest)); shift += kDigit) {
    std::array<std::uint32_t, std::size_t{1} << kDigit> begins{};
    const auto digit = [shift](std::uint64_t word) {
      return word >> shift & ((std::uint64_t{1} << kDigit) - 1);
    };
    for (std::size_t i = 0; i < count; ++i) ++begins[digit(first[i])];
    std::uint32_t begin = 0;
    for (std::uint32_t& place : begins) begin += std::exchange(place, begin);
    for (std::size_t i = 0; i < count; ++i) second[begins[digit(first[i])]++] = first[i];
    std::swap(first, second);
  }
  return first;
}

}  // namespace

void TouchedKeys::begin(std::span<const Key> hot) {
  hot_ = hot;
  hot_numbers_.assign(hot.size(), kNone);
  // As many slots as the last rows needed, so that few of them are cleared in vain.
  const std::size_t slots = std::max(kFirstSlots, std::bit_ceil(2 * found_.size()));
  slots_.assign(slots, {0, kNone});
  shift_ = 32 - std::countr_zero(slots);
  found_.clear();
}

void TouchedKeys::number(std::span<const Key> keys, std::span<std::uint32_t> numbers) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    if ((key & kHotBit) != 0) {
      std::uint32_t& hot = hot_numbers_[key & ~kHotBit];
      if (hot == kNone) hot = number_of(hot_[key & ~kHotBit]);
      numbers[i] = hot;
    } else {
      numbers[i] = number_of(key);
    }
  }
}

std::uint32_t TouchedKeys::number_of(Key key) {
  std::size_t slot = key * std::uint32_t{0x9E3779B9} >> shift_;
  while (slots_[slot].number != kNone) {
    if (slots_[slot].key == key) return slots_[slot].number;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return add(slot, key);
}

std::uint32_t TouchedKeys::add(std::size_t slot, Key key) {
  const auto number = static_cast<std::uint32_t>(found_.size());
  slots_[slot] = {key, number};
  found_.push_back(key);
  if (2 * found_.size() > slots_.size()) grow();
  return number;
}

void TouchedKeys::grow() {
  slots_.assign(2 * slots_.size(), {0, kNone});
  --shift_;
  for (std::uint32_t number = 0; number < found_.size(); ++number) {
    std::size_t slot = found_[number] * std::uint32_t{0x9E3779B9} >> shift_;
    while (slots_[slot].number != kNone) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {found_[number], number};
  }
}

void TouchedKeys::sort(std::vector<Key>& keys) {
  const std::size_t count = found_.size();
  sorting_.resize(2 * count);
  for (std::size_t i = 0; i < count; ++i) sorting_[i] = std::uint64_t{found_[i]} << 32 | i;
  const std::uint64_t* sorted = sort_by_key(sorting_.data(), sorting_.data() + count, count);
  keys.resize(count);
  places_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = static_cast<Key>(sorted[i] >> 32);
    places_[static_cast<std::uint32_t>(sorted[i])] = static_cast<std::uint32_t>(i);
  }
}

void TouchedKeys::place(std::span<std::uint32_t> numbers) const {
  for (std::uint32_t& number : numbers) number = places_[number];
}

}  // namespace paceline

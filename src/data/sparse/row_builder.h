// Features one by one → a row, each key once.
//
// Memory is kept from row to row. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "data/sparse/row.h"

namespace paceline {

inline constexpr float kLargestValue = 1e18F;  // of a feature; its square is still a float

// Rows one behind the other, as words.
struct RowBuffer {
  std::vector<std::uint32_t> words;
  std::vector<std::size_t> starts;  // of the rows
  void clear() {
    words.clear();
    starts.clear();
  }
};

// What is wrong with a value, or null.
inline const char* wrong_value(float value) {
  if (!std::isfinite(value)) return "a value is not finite";
  return std::abs(value) > kLargestValue ? "a value is larger than 1e18" : nullptr;
}

// Whether a list has a key twice: a filter of bits says no for most lists, which spares sorting.
class RepeatedKeys {
 public:
  bool in(std::span<const Key> keys) {
    if (keys.size() > kMostFiltered) return after_sorting(keys);
    bool maybe = false;
    for (const Key key : keys) {
      std::uint64_t& word = bits_[slot(key) / 64];
      const std::uint64_t bit = std::uint64_t{1} << (slot(key) % 64);
      maybe |= (word & bit) != 0;
      word |= bit;
    }
    for (const Key key : keys) bits_[slot(key) / 64] = 0;
    return maybe && after_sorting(keys);
  }

 private:
  static constexpr std::size_t kMostFiltered = 512;
  static std::size_t slot(Key key) { return (key * 0x9E3779B1U) >> 16; }

  bool after_sorting(std::span<const Key> keys) {
    sorted_.assign(keys.begin(), keys.end());
    std::sort(sorted_.begin(), sorted_.end());
    return std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end();
  }

  std::array<std::uint64_t, 1024> bits_{};  // one for each slot
  std::vector<Key> sorted_;
};

// Collects a row; memory is kept from line to line. Keys whose value is not 1 are collected from
// the front of the list, the others from its back.
class RowBuilder {
 public:
  // A feature takes at least two characters of a line; the constant comes on top.
  void begin(std::size_t line_bytes) {
    const std::size_t most = line_bytes / 2 + 2;
    if (most > most_) {
      most_ = std::bit_ceil(most);
      keys_ = std::make_unique_for_overwrite<Key[]>(most_);
      values_ = std::make_unique_for_overwrite<float[]>(most_);
    }
    with_value_ = 0;
    ones_ = most_;
    ascending_ = true;
    last_ = 0;
  }
  void set_label(float label) { label_ = label; }
  [[gnu::always_inline]] void add(Key key, float value) {
    if (value == 1) {
      add(key);
    } else if (value != 0) {
      keys_[with_value_] = key;
      values_[with_value_++] = value;
      note(key);
    }
  }
  void add(Key key) {
    keys_[--ones_] = key;
    note(key);
  }

  // A key that occurs twice has the sum of its values; returns what is wrong with one, or null.
  const char* append_to(RowBuffer& rows) {
    const std::size_t ones = most_ - ones_;
    const std::size_t keys = with_value_ + ones;
    const std::size_t start = rows.words.size();
    rows.words.resize(start + row_words(keys, with_value_));
    std::uint32_t* at = rows.words.data() + start;
    *at++ = std::bit_cast<std::uint32_t>(label_);
    *at++ = static_cast<std::uint32_t>(keys);
    *at++ = static_cast<std::uint32_t>(with_value_);
    const std::span<Key> list(at, keys);
    at = std::copy_n(keys_.get(), with_value_, at);
    at = std::reverse_copy(keys_.get() + ones_, keys_.get() + most_, at);
    std::memcpy(at, values_.get(), with_value_ * sizeof(float));
    if (ascending_ || !repeated_.in(list)) {
      rows.starts.push_back(start);
      return nullptr;
    }
    const std::vector<Key> all(list.begin(), list.end());
    rows.words.resize(start);
    const char* wrong = merge(all);
    return wrong != nullptr ? wrong : append_to(rows);
  }

 private:
  void note(Key key) {
    ascending_ &= key >= last_;
    last_ = key + 1;
  }

  const char* merge(std::span<const Key> keys) {
    std::map<Key, float> sums;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      sums[keys[i]] += i < with_value_ ? values_[i] : 1.0F;
    }
    begin(0);
    for (const auto& [key, value] : sums) {
      if (const char* wrong = wrong_value(value)) return wrong;
      add(key, value);
    }
    return nullptr;
  }

  float label_ = 0;
  std::size_t most_ = 0;
  std::unique_ptr<Key[]> keys_;
  std::unique_ptr<float[]> values_;
  std::size_t with_value_ = 0;  // how many
  std::size_t ones_ = 0;        // where they begin
  bool ascending_ = true;       // so none occurs twice
  Key last_ = 0;
  RepeatedKeys repeated_;
};

}  // namespace paceline

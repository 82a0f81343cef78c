#include "exchange/allreduce/buckets.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

Buckets::Buckets(std::uint64_t floats, std::uint64_t most_floats, std::span<const Range> apart) {
  PACELINE_CHECK(floats > 0 && most_floats > 0);
  std::uint64_t begin = 0;
  for (const Range& range : apart) {
    PACELINE_CHECK(range.begin >= begin && range.end <= floats && !range.empty());
    cut({begin, range.begin}, most_floats);
    ranges_.push_back(range);
    begin = range.end;
  }
  cut({begin, floats}, most_floats);
  missing_.resize(ranges_.size());
  clear();
}

void Buckets::cut(Range floats, std::uint64_t most_floats) {
  const std::uint64_t parts = (floats.size() + most_floats - 1) / most_floats;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const Range range = even_part(floats.size(), parts, part);
    ranges_.push_back({floats.begin + range.begin, floats.begin + range.end});
  }
}

Range Buckets::overlapping(Range floats) const {
  if (floats.empty()) return {0, 0};
  const auto holding = [&](std::uint64_t place) {
    const auto after = std::upper_bound(
        ranges_.begin(), ranges_.end(), place,
        [](std::uint64_t value, const Range& range) { return value < range.begin; });
    return static_cast<std::uint64_t>(after - ranges_.begin()) - 1;
  };
  return {holding(floats.begin), holding(floats.end - 1) + 1};
}

void Buckets::clear() {
  for (std::size_t bucket = 0; bucket < size(); ++bucket) {
    missing_[bucket] = ranges_[bucket].size();
  }
  next_ = size();
}

void Buckets::ready(Range announced) {
  const Range touched = overlapping(announced);
  for (std::uint64_t bucket = touched.begin; bucket < touched.end; ++bucket) {
    const Range mine = floats(bucket);
    const std::uint64_t begin = std::max(mine.begin, announced.begin);
    const std::uint64_t end = std::min(mine.end, announced.end);
    PACELINE_CHECK(missing_[bucket] >= end - begin);
    missing_[bucket] -= end - begin;
  }
}

std::optional<std::size_t> Buckets::take() {
  if (next_ == 0 || missing_[next_ - 1] > 0) return std::nullopt;
  return --next_;
}

}  // namespace paceline

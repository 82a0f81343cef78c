#include "exchange/coverage.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

Overlap Coverage::classify(Range tiles) const {
  PACELINE_CHECK(tiles.begin <= tiles.end && tiles.end <= seen_.size());
  const auto begin = seen_.begin() + static_cast<std::ptrdiff_t>(tiles.begin);
  const auto end = seen_.begin() + static_cast<std::ptrdiff_t>(tiles.end);
  const auto seen = static_cast<std::uint64_t>(std::count(begin, end, true));
  if (seen == 0) return Overlap::kNew;
  return seen == tiles.size() ? Overlap::kDuplicate : Overlap::kPartial;
}

void Coverage::add(Range tiles) {
  PACELINE_CHECK(classify(tiles) == Overlap::kNew);
  std::fill(seen_.begin() + static_cast<std::ptrdiff_t>(tiles.begin),
            seen_.begin() + static_cast<std::ptrdiff_t>(tiles.end), true);
  missing_ -= tiles.size();
}

std::vector<Range> Coverage::missing() const {
  std::vector<Range> gaps;
  for (std::uint64_t tile = 0; tile < seen_.size(); ++tile) {
    if (seen_[tile]) continue;
    if (!gaps.empty() && gaps.back().end == tile) {
      ++gaps.back().end;
    } else {
      gaps.push_back({tile, tile + 1});
    }
  }
  return gaps;
}

bool RangeSet::contains(std::uint64_t value) const {
  return std::any_of(ranges_.rbegin(), ranges_.rend(),
                     [&](const Range& range) { return range.contains(value); });
}

bool RangeSet::add(std::uint64_t value) {
  auto next = std::upper_bound(ranges_.begin(), ranges_.end(), value,
                               [](std::uint64_t v, const Range& range) { return v < range.begin; });
  const bool after_previous = next != ranges_.begin() && (next - 1)->end >= value;
  if (after_previous && (next - 1)->end > value) return false;
  const bool before_next = next != ranges_.end() && next->begin == value + 1;
  if (after_previous && before_next) {
    (next - 1)->end = next->end;
    ranges_.erase(next);
  } else if (after_previous) {
    ++(next - 1)->end;
  } else if (before_next) {
    --next->begin;
  } else {
    ranges_.insert(next, {value, value + 1});
  }
  return true;
}

void RangeSet::add_below(std::uint64_t end) {
  if (end == 0) return;
  std::erase_if(ranges_, [&](const Range& range) { return range.end <= end; });
  if (!ranges_.empty() && ranges_.front().begin <= end) {
    ranges_.front().begin = 0;
  } else {
    ranges_.insert(ranges_.begin(), {0, end});
  }
}

std::uint64_t RangeSet::first_missing() const {
  return ranges_.empty() || ranges_.front().begin > 0 ? 0 : ranges_.front().end;
}

std::uint64_t RangeSet::size() const {
  std::uint64_t total = 0;
  for (const Range& range : ranges_) total += range.size();
  return total;
}

}  // namespace paceline

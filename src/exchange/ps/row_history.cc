#include "exchange/ps/row_history.h"

#include <algorithm>

#include "base/error.h"

namespace paceline {

// ---- steps -----------------------------------------------------------------------------

RowHistory::Step RowHistory::begin() {
  Step step = spare();
  step.version = version_;
  return step;
}

void RowHistory::end(Step step, std::uint64_t version) {
  steps_.push_back(std::move(step));
  version_ = version;
  forget_unneeded();
  join_steps();
}

RowHistory::Step RowHistory::spare() {
  if (spare_steps_.empty()) return {};
  Step step = std::move(spare_steps_.back());
  spare_steps_.pop_back();
  step.rows.clear();
  step.before.clear();
  return step;
}

void RowHistory::release(std::uint64_t version) {
  pinned_.erase(version);
  forget_unneeded();
}

void RowHistory::forget_unneeded() {
  std::uint64_t oldest = version_ - (keeps_last_ && version_ > 0 ? 1 : 0);
  if (!pinned_.empty()) oldest = std::min(oldest, *pinned_.begin());
  while (!steps_.empty() && steps_.front().version < oldest) {
    if (spare_steps_.size() < 2) spare_steps_.push_back(std::move(steps_.front()));
    steps_.pop_front();
  }
}

// Neighbours of about the same size become one, unless the version between them is kept: so the
// lists are few, and a row costs a few copies however long a version is pinned.
void RowHistory::join_steps() {
  if (steps_.size() < (keeps_last_ ? 3U : 2U)) return;
  for (std::size_t at = steps_.size() - (keeps_last_ ? 2 : 1); at > 0; --at) {
    Step& older = steps_[at - 1];
    Step& newer = steps_[at];
    if (pinned_.contains(newer.version) || older.rows.size() > 2 * newer.rows.size()) return;
    Step both = spare();
    both.version = older.version;
    join(older.rows, newer.rows, both.rows);
    both.before.resize(both.rows.size());
    const auto take = [&](const Step& from) {
      for_common(both.rows, from.rows,
                 [&](std::size_t to, std::size_t i) { both.before[to] = from.before[i]; });
    };
    take(newer);
    take(older);  // what was before both
    older = std::move(both);
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

// ---- versions --------------------------------------------------------------------------

// Newest first.
template <typename Each>
void RowHistory::for_steps_since(std::uint64_t version, const Each& each) const {
  PACELINE_CHECK(version <= version_ &&
                 (version == version_ || (!steps_.empty() && steps_.front().version <= version)));
  for (auto step = steps_.rbegin(); step != steps_.rend() && step->version >= version; ++step) {
    each(*step);
  }
}

void RowHistory::undo(std::uint64_t version, RowNumbers rows, std::span<TableRow> values) const {
  for_steps_since(version, [&](const Step& step) {
    for_common(rows, step.rows,
               [&](std::size_t to, std::size_t from) { values[to] = step.before[from]; });
  });
}

void RowHistory::undo(std::uint64_t version, std::uint32_t first,
                      std::span<TableRow> values) const {
  const std::uint64_t last = first + values.size();
  for_steps_since(version, [&](const Step& step) {
    const auto begin = std::ranges::lower_bound(step.rows, first);
    for (auto row = begin; row != step.rows.end() && *row < last; ++row) {
      values[*row - first] = step.before[static_cast<std::size_t>(row - step.rows.begin())];
    }
  });
}

std::uint64_t RowHistory::rows_kept() const {
  std::uint64_t rows = 0;
  for (const Step& step : steps_) rows += step.rows.size();
  return rows;
}

}  // namespace paceline

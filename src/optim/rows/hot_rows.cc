#include "optim/rows/hot_rows.h"

namespace paceline {

HotRows::HotRows(std::span<const Key> keys, std::span<TableRow> table, bool copies)
    : keys_(keys.begin(), keys.end()), copies_(copies) {
  for (const Key key : keys_) rows_.push_back(table[key]);
}

void HotRows::put_back(std::span<TableRow> table) const {
  for (std::size_t i = 0; i < keys_.size(); ++i) table[keys_[i]] = rows_[i];
}

HotRows::Copy::Copy(HotRows& all) : all_(all) {
  if (!all.copies_) return;
  const std::lock_guard lock(all_.mutex_);
  mine_ = before_ = all_.rows_;
}

void HotRows::Copy::merge() {
  if (!all_.copies_) return;
  const std::lock_guard lock(all_.mutex_);
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    TableRow& shared = all_.rows_[i];
    shared.a += mine_[i].a - before_[i].a;
    shared.b += mine_[i].b - before_[i].b;
    mine_[i] = before_[i] = shared;
  }
}

}  // namespace paceline

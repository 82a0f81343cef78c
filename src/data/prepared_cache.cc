#include "data/prepared_cache.h"

#include <utility>

namespace paceline {

PreparedCache::PreparedCache(Decode decode, std::uint64_t most_rows)
    : decode_(std::move(decode)), most_rows_(most_rows) {}

PreparedCache::Block PreparedCache::find(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  const auto [found, is_new] = entries_.try_emplace(number);
  if (!is_new) {
    const Entry& entry = found->second;
    if (entry.block) turns_.splice(turns_.begin(), turns_, entry.turn);
    return entry.block;
  }
  lock.unlock();
  Block block;
  try {
    block = std::make_shared<const PreparedBlock>(decode_(number));
  } catch (...) {
    lock.lock();
    entries_.erase(number);
    done_.notify_all();
    throw;
  }
  lock.lock();
  keep(number, block);
  done_.notify_all();
  return block;
}

PreparedCache::Block PreparedCache::wait(std::uint64_t number) {
  for (;;) {
    if (Block block = find(number)) return block;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] {
      const auto found = entries_.find(number);
      return found == entries_.end() || found->second.block;
    });
  }
}

void PreparedCache::keep(std::uint64_t number, const Block& block) {
  ++decoded_;
  rows_ += block->size();
  turns_.push_front(number);
  entries_[number] = {block, turns_.begin()};
  while (rows_ > most_rows_ && turns_.size() > 1) {
    const auto last = entries_.find(turns_.back());
    rows_ -= last->second.block->size();
    entries_.erase(last);
    turns_.pop_back();
  }
}

std::uint64_t PreparedCache::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

std::uint64_t PreparedCache::decoded() const {
  const std::lock_guard lock(mutex_);
  return decoded_;
}

}  // namespace paceline

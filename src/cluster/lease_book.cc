#include "cluster/lease_book.h"

#include <algorithm>

namespace paceline {

LeaseBook::LeaseBook(const Grid& grid, RangeSet done, std::uint64_t steps, std::uint64_t block)
    : grid_(grid),
      done_(std::move(done)),
      steps_(steps),
      block_(block),
      next_(done_.first_missing()) {
  const std::uint64_t per_epoch = grid_.steps_per_epoch();
  epoch_end_ = std::min(steps_, (next_ / per_epoch + 1) * per_epoch);
}

std::vector<std::uint64_t> LeaseBook::grant(std::uint32_t worker, std::uint64_t workers) {
  std::set<std::uint64_t>& held = held_[worker];
  const std::uint64_t left = returned_.size() + epoch_end_ - std::min(epoch_end_, next_);
  const std::uint64_t block =
      std::clamp<std::uint64_t>(left / (2 * std::max<std::uint64_t>(1, workers)), 1, block_);
  std::vector<std::uint64_t> granted;
  if (held.size() * 2 > block) return granted;
  while (held.size() < block) {
    std::uint64_t step = 0;
    if (!returned_.empty()) {
      step = returned_.back();
      returned_.pop_back();
    } else if (next_ < epoch_end_) {
      step = next_++;
    } else {
      break;
    }
    if (done_.contains(step)) continue;
    held.insert(step);
    granted.push_back(step);
  }
  return granted;
}

void LeaseBook::commit(std::uint32_t worker, std::uint64_t step) {
  done_.add(step);
  held_[worker].erase(step);
  std::erase(returned_, step);
}

void LeaseBook::give_back(std::uint32_t worker) {
  const std::set<std::uint64_t>& held = held_[worker];
  returned_.insert(returned_.end(), held.begin(), held.end());
  held_.erase(worker);
}

void LeaseBook::next_epoch() {
  epoch_end_ = std::min(steps_, epoch_end_ + grid_.steps_per_epoch());
}

std::uint64_t LeaseBook::examples_done() const {
  std::uint64_t examples = 0;
  for (const Range& range : done_.ranges()) {
    examples += grid_.examples_before(range.end) - grid_.examples_before(range.begin);
  }
  return examples;
}

}  // namespace paceline

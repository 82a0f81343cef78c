#include "prepare/progress.h"

#include <algorithm>

#include "base/clock.h"

namespace paceline {

Ticker::Ticker(const PrepareNews& news, const char* step, std::uint64_t all, Unit unit)
    : news_(news), step_(step), all_(all), unit_(unit), thread_([this] { tell(); }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Ticker::done_before(std::uint64_t amount) {
  before_ += amount;
  done_ += amount;
}

void Ticker::tell() {
  constexpr std::chrono::milliseconds kInterval(100);
  const TimePoint begun = Clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterval, [this] { return over_; })) {
    const double took = seconds(Clock::now() - begun);
    const std::uint64_t now = all_ == 0 ? done_.load() : std::min(done_.load(), all_);
    const double rate = static_cast<double>(now - std::min(before_.load(), now)) / took;
    PrepareProgress progress;
    progress.step = step_;
    progress.done = all_ == 0 ? -1 : static_cast<double>(now) / static_cast<double>(all_);
    progress.bytes_per_second = unit_ == Unit::kBytes ? rate : 0;
    progress.seconds_left = rate > 0 && all_ > 0 ? static_cast<double>(all_ - now) / rate : -1;
    news_.progress(progress);
  }
}

}  // namespace paceline

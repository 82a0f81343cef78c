// Where threads wait for one another: polling at first, asleep after a while.
#pragma once

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/spin.h"

namespace paceline {

class Doorbell {
 public:
  // Returns once `done`, which reads atomics; `spin` is the calling thread's own.
  template <typename Done>
  void wait(Spin& spin, const Done& done) {
    constexpr int kBeforeYielding = 200;
    spin.worked();
    for (int round = 0; !done(); ++round) {
      if (round < kBeforeYielding) continue;
      const TimePoint now = Clock::now();
      if (!spin.again(now)) return sleep(done);
      ::sched_yield();
      spin.yielded(now, Clock::now());
    }
  }

  // To be called after what others wait for has changed.
  void ring() {
    // In the order of changes of `asleep_`, one who falls asleep comes before this and is
    // woken, or after it and sees what has changed.
    if (asleep_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    { const std::lock_guard lock(mutex_); }  // it waits by now, or has not looked yet
    changed_.notify_all();
  }

 private:
  template <typename Done>
  void sleep(const Done& done) {
    std::unique_lock lock(mutex_);
    asleep_.fetch_add(1, std::memory_order_acq_rel);
    changed_.wait(lock, done);
    asleep_.fetch_sub(1, std::memory_order_acq_rel);
  }

  std::atomic<int> asleep_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace paceline

#include "base/activity.h"

#include <pthread.h>

namespace paceline {

void Activity::adopt() {
  if (::pthread_getcpuclockid(::pthread_self(), &clock_) == 0) adopted_ = true;
}

void Activity::begin(Kind kind, const char* what) {
  kind_.store(kind, std::memory_order_relaxed);
  what_.store(what, std::memory_order_relaxed);
  count();
}

Activity::State Activity::state() const {
  State state{thread_, kind_.load(std::memory_order_relaxed), what_.load(std::memory_order_relaxed),
              done_.load(std::memory_order_relaxed), 0};
  const std::uint64_t number = number_.load(std::memory_order_relaxed);
  if (number != kNoNumber && !state.doing.empty()) state.doing += " " + std::to_string(number);
  timespec used{};
  if (adopted_ && ::clock_gettime(clock_, &used) == 0) {
    state.cpu_seconds = static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }
  return state;
}

}  // namespace paceline

// Notes of a ring whose members are threads of one process.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "exchange/allreduce/ring.h"

namespace paceline {

class SharedNotes final : public RingNotes {
 public:
  void leave(const std::string& key, const std::string& note) override {
    const std::lock_guard lock(mutex_);
    notes_[key] = note;
    changed_.notify_all();
  }
  std::string find(const std::string& key) override {
    std::unique_lock lock(mutex_);
    const TimePoint limit = Clock::now() + std::chrono::seconds(20);
    if (!changed_.wait_until(lock, limit, [&] { return notes_.contains(key); })) {
      throw CommError("no note {}", key);
    }
    return notes_[key];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> notes_;
};

}  // namespace paceline

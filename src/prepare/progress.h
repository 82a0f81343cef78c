// Tells how far a stage is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace paceline {

struct PrepareProgress {
  const char* step = "";        // "reading", "grouping", "writing"
  double done = 0;              // of the step: 0 to 1; below 0: not known
  double bytes_per_second = 0;  // of the input, while reading
  double seconds_left = 0;      // of the step; below 0: not known
};

// Called from any thread, one at a time.
struct PrepareNews {
  std::function<void(const PrepareProgress&)> progress = [](const PrepareProgress&) {};
  std::function<void(const std::string&)> notice = [](const std::string&) {};
};

// Tells it from a thread of its own, ten times a second, until it is destroyed.
class Ticker {
 public:
  enum class Unit { kBytes, kOther };
  Ticker(const PrepareNews& news, const char* step, std::uint64_t all, Unit unit);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  std::atomic<std::uint64_t>& done() { return done_; }
  // What an earlier run has done says nothing of how fast this one is.
  void done_before(std::uint64_t amount);

 private:
  void tell();

  const PrepareNews& news_;
  const char* step_;
  std::uint64_t all_;
  Unit unit_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> before_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace paceline

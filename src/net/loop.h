// The event loop that one thread runs: links, timers and work posted from other threads.
//
// Waiting costs more than work when messages take microseconds: a core that falls asleep
// takes tens of microseconds to wake, above all in a virtual machine. So the loop first
// polls for `spin`, yielding the core to whoever else wants it, and only then blocks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "net/link.h"

namespace asio {
class io_context;
}

namespace paceline {

class Loop {
 public:
  explicit Loop(Duration spin = std::chrono::microseconds(100));
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs handlers until stop(); or until `done` returns true, asked after each handler;
  // or until `deadline`. Returns whether done() held (always true without `done`).
  void run();
  bool run_until(const std::function<bool()>& done, TimePoint deadline);
  void poll();  // what is ready now, without waiting
  void stop();  // from any thread; run() returns

  void post(std::function<void()> work);  // from any thread
  // Calls `work` once after `delay`, or every `period`; until the returned token dies.
  using Token = std::shared_ptr<void>;
  [[nodiscard]] Token after(Duration delay, std::function<void()> work);
  [[nodiscard]] Token every(Duration period, std::function<void()> work);

  asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

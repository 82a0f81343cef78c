// The event loop that one thread runs: links, timers and work posted from other threads.
//
// Waiting costs more than work when messages take microseconds: a core that falls asleep
// takes tens of microseconds to wake, above all in a virtual machine. So the loop first
// polls for `spin`, yielding the core to whoever else wants it, and only then blocks
// (see base/spin.h).
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"

namespace asio {
class io_context;
}

namespace paceline {

// What a loop asks for progress directly while it polls: for a handful of links that is
// cheaper than asking the kernel's event queue which of them to ask.
class Pollable {
 public:
  virtual bool poll() = 0;  // does what can be done now; returns whether that was anything
  virtual void arm() = 0;   // the loop is about to block: see to it that it wakes up

 protected:
  ~Pollable() = default;
};

class Loop {
 public:
  explicit Loop(Duration spin = std::chrono::microseconds(100));
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs handlers until stop(); or until `done` returns true, asked after each handler;
  // or until `deadline`. Returns whether done() held (always true without `done`). What a
  // handler throws comes out here.
  void run();
  bool run_until(const std::function<bool()>& done, TimePoint deadline);
  void poll();  // what is ready now, without waiting
  void stop();  // from any thread; ends the run in progress or, if there is none, the next

  void post(std::function<void()> work);  // from any thread
  // Calls `work` once after `delay`, or every `period`; until the returned token dies, which
  // it must before the loop.
  using Token = std::shared_ptr<void>;
  [[nodiscard]] Token after(Duration delay, std::function<void()> work);
  [[nodiscard]] Token every(Duration period, std::function<void()> work);

  void watch(Pollable& pollable);
  void unwatch(Pollable& pollable);
  asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

// Runs a loop while the thread that it belongs to computes.
//
// A message that does not fit into a socket's buffer leaves only while somebody runs the loop.
// For small models the training thread does so while it waits, and that is soon; a gradient of
// many megabytes would wait for the end of the backward pass. So either the owner holds the loop,
// or a thread of the pump runs it and lets go after the handler that it is in. A handler that hangs
// is seen: while the thread runs the loop it serves, and counts the turns that it is asked for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/activity.h"
#include "base/error.h"
#include "net/loop.h"

namespace paceline {

class Pump {
 public:
  // `failed` is called by the pump's thread with what a handler threw; then it is over.
  Pump(Loop& loop, std::function<void(const Error&)> failed);
  ~Pump();

  void start();  // until then, and without it, the loop is the owner's
  void stop();   // for good

  // What its thread does; asks for a turn on the way, to be seen the next time. From any thread.
  const Activity& look();

  // While one lives, the loop is the owner's. They may be nested.
  class [[nodiscard]] Hold {
   public:
    explicit Hold(Pump& pump) : pump_(pump) { pump_.take(); }
    ~Hold() { pump_.give(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Pump& pump_;
  };

 private:
  void take();
  void give();
  void run();

  struct Turns {
    Activity activity{"sending and receiving"};
    std::atomic<bool> asked = false;
  };

  Loop& loop_;
  std::function<void(const Error&)> failed_;
  std::shared_ptr<Turns> turns_ =
      std::make_shared<Turns>();  // a turn may come when the pump is gone
  int depth_ = 0;                 // of the owner's holds
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> wanted_ = false;  // by the owner, or to end; written with the mutex
  bool running_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace paceline

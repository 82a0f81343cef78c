// Signals as ordinary calls: a thread waits for them, so the callback may do anything.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

namespace paceline {

// Blocks the signals in the calling thread and in those it starts later. To be called
// before any thread that must not be hit is started.
void block_signals(std::initializer_list<int> signals);

// Blocks the signals likewise and calls `caught` from a thread of its own for each that
// arrives.
class SignalWatcher {
 public:
  SignalWatcher(std::initializer_list<int> signals, std::function<void(int)> caught);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline

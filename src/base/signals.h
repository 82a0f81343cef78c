// Signals as ordinary calls: a thread waits for them, so the callback may do anything.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>

namespace paceline {

// Blocks the signals in the calling thread and in those it starts later. To be called
// before any thread that must not be hit is started.
void block_signals(std::initializer_list<int> signals);

// While it lives, the calling thread and those that it starts get no signals: a thread that serves
// a library or a file must not be the one that a signal ends the process by.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

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

// For commands that end in order when they are asked to, which may take a while: the first of
// the signals calls `stop`, and a SIGINT after it ends the process at once with exit code 130.
// What it was writing stays as a process that was killed leaves it.
//
// Where `give_up` is given, every signal after the first calls it. It says whether the process was
// waiting for something, does so no longer and soon ends with words of its own: then it is left to.
class StopSignals {
 public:
  StopSignals(std::initializer_list<int> signals, std::function<void()> stop,
              std::function<bool()> give_up = {});

 private:
  bool stopping_ = false;  // its thread's
  SignalWatcher watcher_;
};

}  // namespace paceline

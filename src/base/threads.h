// Several threads at one piece of work.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline {

// As `top -H` and debuggers show it; at most 15 letters. Not for the main thread, whose name is the
// program's.
void name_this_thread(const char* name);

class Threads {
 public:
  Threads() = default;
  ~Threads();  // waits for all; what they threw is lost unless join() was called
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Starts `count` threads that call `work` with 0 … count - 1. Throws ResourceError when the
  // system has no more threads; those that were started go on, and it is for the caller to stop
  // them.
  void start(std::size_t count, std::function<void(std::size_t number)> work);

  bool running() const { return running_ > 0; }  // any of them
  // Waits for all. Throws what the first that failed has thrown.
  void join();

 private:
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> running_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

// Calls `work` with 0 … count - 1 at the same time, once from the calling thread. Throws what the
// first that failed has thrown when all have ended.
void on_threads(std::size_t count, const std::function<void(std::size_t number)>& work);

// Calls `work` with 0 … count - 1, each of which one of `threads` threads takes when it has time;
// the calling one is among them. Numbers are begun in their order, and after a failure no more.
// When all have ended, throws what the lowest number that failed has thrown.
void for_each_number(std::size_t count, std::size_t threads,
                     const std::function<void(std::size_t number)>& work);

}  // namespace paceline

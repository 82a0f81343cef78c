#include "base/threads.h"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace paceline {

void name_this_thread(const char* name) {
  ::pthread_setname_np(::pthread_self(), name);
}

Threads::~Threads() {
  for (std::thread& thread : threads_) thread.join();
}

void Threads::start(std::size_t count, std::function<void(std::size_t)> work) {
  const auto shared = std::make_shared<std::function<void(std::size_t)>>(std::move(work));
  for (std::size_t number = 0; number < count; ++number) {
    ++running_;
    try {
      threads_.emplace_back([this, shared, number] {
        try {
          (*shared)(number);
        } catch (...) {
          const std::lock_guard lock(mutex_);
          if (!failure_) failure_ = std::current_exception();
        }
        --running_;
      });
    } catch (const std::system_error& error) {
      --running_;
      throw ResourceError("cannot start another thread: {}", error.what());
    }
  }
}

void Threads::join() {
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  Threads others;
  if (count > 1) others.start(count - 1, [&](std::size_t number) { work(number + 1); });
  std::exception_ptr failure;
  try {
    if (count > 0) work(0);
  } catch (...) {
    failure = std::current_exception();
  }
  others.join();
  if (failure) std::rethrow_exception(failure);
}

void for_each_number(std::size_t count, std::size_t threads,
                     const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;  // the lowest that did
  on_threads(std::min(threads, count), [&](std::size_t) {
    for (std::size_t number = next++; number < count; number = next++) {
      try {
        work(number);
      } catch (...) {
        const std::lock_guard lock(mutex);
        next = count;
        if (number < failed) failure = std::current_exception();
        failed = std::min(failed, number);
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace paceline

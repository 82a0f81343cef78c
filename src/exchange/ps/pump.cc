#include "exchange/ps/pump.h"

#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace paceline {

Pump::Pump(Loop& loop, std::function<void(const Error&)> failed)
    : loop_(loop), failed_(std::move(failed)) {}

Pump::~Pump() {
  stop();
}

void Pump::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wanted_ = true;
  }
  loop_.post([] {});
  changed_.notify_all();
  thread_.join();
}

void Pump::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw ResourceError("cannot start the thread that sends and receives: {}", error.what());
  }
}

// When the owner has the loop, the turn is not the pump's.
const Activity& Pump::look() {
  if (!turns_->asked.exchange(true)) {
    loop_.post([turns = turns_] {
      turns->asked = false;
      if (turns->activity.state().kind == Activity::Kind::kServing) turns->activity.count();
    });
  }
  return turns_->activity;
}

void Pump::take() {
  if (depth_++ > 0 || !thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  wanted_ = true;
  if (running_) loop_.post([] {});
  changed_.wait(lock, [this] { return !running_; });
}

void Pump::give() {
  if (--depth_ > 0 || !thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = false;
  }
  changed_.notify_all();
}

void Pump::run() {
  turns_->activity.adopt();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !wanted_ || stopping_; });
    if (stopping_) return;
    running_ = true;
    lock.unlock();
    turns_->activity.begin(Activity::Kind::kServing, "sending and receiving");
    std::optional<Error> failure;
    try {
      loop_.run_until([this] { return wanted_.load(); }, TimePoint::max());
    } catch (const std::exception&) {
      failure = current_error();
    }
    turns_->activity.begin(Activity::Kind::kIdle, "");
    lock.lock();
    running_ = false;
    changed_.notify_all();
    if (failure) {
      lock.unlock();
      return failed_(*failure);
    }
  }
}

}  // namespace paceline

#include "net/loop.h"

#include <sched.h>

#include <algorithm>
#include <asio.hpp>
#include <atomic>
#include <utility>
#include <vector>

#include "base/spin.h"

namespace paceline {
namespace {

// With more links than this, asking each costs more than asking the kernel once.
constexpr std::size_t kDirectlyPolled = 16;
// Timers and sockets that are not polled are looked for in one round out of so many.
constexpr unsigned kRoundsPerEventQueue = 16;
constexpr int kHandlersPerPoll = 256;
// A deadline that is noticed this late was slept through.
constexpr Duration kStopped = std::chrono::seconds(1);

struct Timer : std::enable_shared_from_this<Timer> {
  Timer(asio::io_context& context, Duration its_period, std::function<void()> its_work)
      : timer(context), period(its_period), work(std::move(its_work)) {}

  void wait_until(TimePoint when) {
    timer.expires_at(when);
    timer.async_wait([weak = weak_from_this()](const asio::error_code& error) {
      if (error) return;
      if (auto alive = weak.lock()) alive->fire();
    });
  }

  void fire() {
    // Periods that were missed are not made up for. The work may drop the token.
    if (period > Duration::zero()) wait_until(std::max(timer.expiry() + period, Clock::now()));
    work();
  }

  asio::steady_timer timer;
  Duration period;
  std::function<void()> work;
};

}  // namespace

struct Loop::Impl {
  explicit Impl(Duration longest_spin) : spin(longest_spin) {}

  bool run(const std::function<bool()>* done, TimePoint deadline);
  bool turn();
  bool poll_links();
  bool poll_event_queue();
  void block(TimePoint deadline);
  void arm();

  Spin spin;
  std::vector<Pollable*> links;  // null: has left, perhaps while the list is being walked
  bool holes = false;
  unsigned round = 0;
  std::atomic<bool> stopping{false};
  std::atomic<bool> posted{false};  // there may be posted work
  asio::io_context context{1};      // last: what its queue holds may still leave `links`
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

bool Loop::Impl::run(const std::function<bool()>* done, TimePoint deadline) {
  bool overslept = false;
  while (true) {
    if (done != nullptr && (*done)()) return true;
    if (stopping.load(std::memory_order_relaxed) && stopping.exchange(false)) return false;
    if (turn()) {
      spin.worked();
      continue;
    }
    const TimePoint now = Clock::now();
    if (now >= deadline) {
      // This process was stopped, and perhaps those it waits for as well: once more.
      if (overslept || now - deadline < kStopped) return false;
      overslept = true;
      deadline = now + kStopped;
    }
    if (spin.again(now)) {
      ::sched_yield();
      spin.yielded(now, Clock::now());
    } else {
      block(deadline);
    }
  }
}

// One round of polling; returns whether anything happened.
bool Loop::Impl::turn() {
  if (holes) {
    std::erase(links, nullptr);
    holes = false;
  }
  const bool direct = links.size() <= kDirectlyPolled;
  const bool progress = direct && poll_links();
  if (!direct) arm();
  const bool ask = !direct || links.empty() || ++round % kRoundsPerEventQueue == 0 ||
                   posted.load(std::memory_order_relaxed);
  return (ask && poll_event_queue()) || progress;
}

bool Loop::Impl::poll_event_queue() {
  posted.store(false, std::memory_order_relaxed);
  if (context.poll_one() == 0) return false;
  posted.store(true, std::memory_order_relaxed);
  return true;
}

bool Loop::Impl::poll_links() {
  bool progress = false;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i] != nullptr && links[i]->poll()) progress = true;
  }
  return progress;
}

void Loop::Impl::block(TimePoint deadline) {
  arm();
  if (deadline == TimePoint::max()) {
    context.run_one();
  } else {
    context.run_one_until(deadline);
  }
}

void Loop::Impl::arm() {
  for (Pollable* link : links) {
    if (link != nullptr) link->arm();
  }
}

Loop::Loop(Duration spin) : impl_(std::make_unique<Impl>(spin)) {}
Loop::~Loop() = default;

void Loop::run() {
  impl_->run(nullptr, TimePoint::max());
}

bool Loop::run_until(const std::function<bool()>& done, TimePoint deadline) {
  return impl_->run(done ? &done : nullptr, deadline) || !done;
}

void Loop::poll() {
  impl_->poll_links();
  for (int i = 0; i < kHandlersPerPoll && impl_->context.poll_one() > 0; ++i) {
  }
}

void Loop::stop() {
  impl_->stopping = true;
  asio::post(impl_->context, [] {});  // wakes it up
}

void Loop::post(std::function<void()> work) {
  asio::post(impl_->context, std::move(work));
  impl_->posted.store(true, std::memory_order_relaxed);
}

Loop::Token Loop::after(Duration delay, std::function<void()> work) {
  auto timer = std::make_shared<Timer>(impl_->context, Duration::zero(), std::move(work));
  timer->wait_until(Clock::now() + delay);
  return timer;
}

Loop::Token Loop::every(Duration period, std::function<void()> work) {
  auto timer = std::make_shared<Timer>(impl_->context, period, std::move(work));
  timer->wait_until(Clock::now() + period);
  return timer;
}

void Loop::watch(Pollable& pollable) {
  impl_->links.push_back(&pollable);
}

void Loop::unwatch(Pollable& pollable) {
  const auto found = std::find(impl_->links.begin(), impl_->links.end(), &pollable);
  if (found == impl_->links.end()) return;
  *found = nullptr;
  impl_->holes = true;
}

asio::io_context& Loop::context() {
  return impl_->context;
}

}  // namespace paceline

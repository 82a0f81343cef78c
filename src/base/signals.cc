#include "base/signals.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  return set;
}

// The thread sanitizer's _exit() flushes stdout, whose lock a thread may hold that waits for its
// reader. The system call waits for nobody.
[[noreturn]] void exit_at_once(ExitCode code) {
  constexpr std::string_view kWords = "paceline: interrupted at once: what was not saved is lost\n";
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) == 1) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWords.data(), kWords.size());
  }
  ::syscall(SYS_exit_group, static_cast<int>(code));
  __builtin_unreachable();
}

}  // namespace

SignalsHeld::SignalsHeld() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeld::~SignalsHeld() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void block_signals(std::initializer_list<int> signals) {
  const sigset_t set = set_of(signals);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

struct SignalWatcher::Impl {
  sigset_t watched{};
  sigset_t before{};
  std::function<void(int)> caught;
  std::atomic<bool> over = false;
  std::thread thread;

  void wait() {
    constexpr timespec kPatience{0, 50'000'000};  // looks at `over` this often
    while (!over) {
      const int signal = ::sigtimedwait(&watched, nullptr, &kPatience);
      if (signal > 0 && !over) caught(signal);
    }
  }
};

SignalWatcher::SignalWatcher(std::initializer_list<int> signals, std::function<void(int)> caught)
    : impl_(std::make_unique<Impl>()) {
  impl_->watched = set_of(signals);
  ::pthread_sigmask(SIG_BLOCK, &impl_->watched, &impl_->before);
  impl_->caught = std::move(caught);
  impl_->thread = std::thread([impl = impl_.get()] { impl->wait(); });
}

SignalWatcher::~SignalWatcher() {
  impl_->over = true;
  impl_->thread.join();
  ::pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr);
}

StopSignals::StopSignals(std::initializer_list<int> signals, std::function<void()> stop,
                         std::function<bool()> give_up)
    : watcher_(signals, [this, stop = std::move(stop), give_up = std::move(give_up)](int signal) {
        if (!std::exchange(stopping_, true)) {
          stop();
        } else if (give_up && give_up()) {
          return;
        } else if (signal == SIGINT) {
          exit_at_once(ExitCode::kInterrupted);
        }
      }) {}

}  // namespace paceline

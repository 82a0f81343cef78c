// What one thread of a process is doing, so that others can tell a slow thread from one that hangs.
//
// The thread says what it begins and counts what it has done; any other thread may read that. Only
// the thread itself calls begin(), at() and count(): each costs a few nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>

namespace paceline {

class Activity {
 public:
  enum class Kind {
    kIdle,     // has nothing to do: nobody waits for it
    kWaiting,  // for another process
    kBusy,     // with work of its own
    kServing,  // answers others, and must do so soon: counts its turns
  };

  // `thread` is its name in messages: "training".
  explicit Activity(std::string thread) : thread_(std::move(thread)) {}

  // Called by the thread that this describes, before all else: its processor time counts.
  void adopt();
  // `what` completes "it is …" and lives for ever: "reading the data of step". Where a number()
  // belongs to it, that follows.
  void begin(Kind kind, const char* what);
  static constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};
  void at(std::uint64_t number) { number_.store(number, std::memory_order_relaxed); }
  void count() {
    done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  struct State {
    std::string thread;
    Kind kind = Kind::kIdle;
    std::string doing;       // "reading the data of step 12"; empty: not said
    std::uint64_t done = 0;  // grows with everything it begins or counts
    double cpu_seconds = 0;  // of the thread
  };
  State state() const;  // from any thread

 private:
  std::string thread_;
  std::atomic<Kind> kind_ = Kind::kIdle;
  std::atomic<const char*> what_ = "";
  std::atomic<std::uint64_t> number_ = kNoNumber;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> adopted_ = false;
  clockid_t clock_{};
};

}  // namespace paceline

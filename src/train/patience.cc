#include "train/patience.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/units.h"

namespace paceline {
namespace {

constexpr Duration kLook = std::chrono::milliseconds(20);  // whether someone has refused

std::string waiting_sentence(const DiskFull& full, const Patience& patience) {
  return fmt::format("{}. What was learned is in memory: make room and it will be written. {}",
                     full.what(),
                     patience.endless ? "Ctrl-C gives it up"
                                      : "It is tried again for " + format_duration(patience.limit));
}

// Until the next try, or until someone refuses.
void pause(const Patience& patience) {
  const TimePoint end = Clock::now() + patience.pause;
  while (!patience.refused() && Clock::now() < end) {
    std::this_thread::sleep_for(std::min(kLook, patience.pause));
  }
}

}  // namespace

void write_patiently(const std::function<void()>& write, const Patience& patience) {
  const TimePoint began = Clock::now();
  for (bool said = false;; said = true) {
    try {
      return write();
    } catch (const DiskFull& full) {
      if (!said) patience.say(waiting_sentence(full, patience));
      const Duration waited = Clock::now() - began;
      if (patience.refused()) throw;
      if (!patience.endless && waited >= patience.limit) {
        throw DiskFull(full, "no room was made in {}", format_duration(waited));
      }
    }
    pause(patience);
  }
}

}  // namespace paceline

// How long to poll before blocking, when what is waited for may be microseconds away.
//
// Between polls a thread yields its core. That is cheap as long as whoever gets the core
// gives it back soon: other roles of a run do. A program that only computes keeps it for
// milliseconds, each time; a blocked thread would have had it back at once, since the
// kernel prefers those who wake up. So a yield that took long is made up for by blocking.
#pragma once

#include "base/clock.h"

namespace paceline {

class Spin {
 public:
  explicit Spin(Duration longest) : longest_(longest) {}

  // Nothing to do at `now`: whether to yield and look again, or else to block.
  bool again(TimePoint now) {
    if (!idle_) idle_since_ = now;
    idle_ = now >= blocking_until_ && now - idle_since_ < longest_;
    return idle_;
  }
  void yielded(TimePoint from, TimePoint to) {
    if (to - from >= kLong) blocking_until_ = to + kRest * (to - from);
  }
  void worked() { idle_ = false; }

 private:
  static constexpr Duration kLong = std::chrono::milliseconds(1);
  static constexpr int kRest = 50;  // so that at most a fiftieth of the time is lost so

  Duration longest_;
  bool idle_ = false;
  TimePoint idle_since_;
  TimePoint blocking_until_;
};

}  // namespace paceline

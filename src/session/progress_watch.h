// Tells slow from stuck, by what the threads of all roles say of themselves in their heartbeats.
//
// A thread gets on when its count grows or when it uses the processor: a long computation is slow,
// not stuck. One that is busy or serves others and does not get on for the deadline is stuck,
// however regularly its process beats. One that waits is never to blame; but when nobody gets on,
// the whole run is stuck.
//
// Bytes that move between roles are progress of the run, too: one transfer over a slow link may
// take longer than the deadline. They are those of a role's links to servers and to other workers,
// counted as they come, not when a message is complete; its line to the chief is none of them, or
// heartbeats would hide a hang. A thread that hangs is stuck however much its process receives.
//
// A pure class: it is told the time. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "session/protocol.pb.h"

namespace paceline {

class ProgressWatch {
 public:
  ProgressWatch(Duration deadline, TimePoint now) : deadline_(deadline), got_on_(now) {}

  // What a member's threads do; others that it told of have ended. `member` is an incarnation, or
  // 0: the chief itself.
  void heard(std::uint32_t member, const wire::Heartbeat& beat, TimePoint now);
  void forget(std::uint32_t member);
  void got_on(TimePoint now) { got_on_ = now; }  // the run: a step, a test, a save is complete
  void forgive(TimePoint now);  // it was this process that did not run: all begin anew

  struct Stuck {
    std::uint32_t member;
    std::string doing;  // "reading the data of step 12"
    Duration still;
  };
  std::vector<Stuck> stuck(TimePoint now) const;  // at most one for each member
  // How long nobody has got on.
  Duration still(TimePoint now) const { return now - got_on_; }
  Duration deadline() const { return deadline_; }

 private:
  struct Thread {
    wire::Activity last;   // as it last got on
    wire::Activity state;  // as it was last heard
    TimePoint got_on;
  };

  Duration deadline_;
  TimePoint got_on_;                                                 // anybody, or the run
  std::map<std::uint32_t, std::uint64_t> moved_;                     // bytes, by member
  std::map<std::pair<std::uint32_t, std::string>, Thread> threads_;  // by member and name
};

}  // namespace paceline

#include "session/heartbeat.h"

#include "base/process.h"

namespace paceline {

wire::Heartbeat figures(const LinkCounters& counters) {
  const Usage usage = usage_of_this_process();
  wire::Heartbeat beat;
  beat.set_cpu_seconds(usage.cpu_seconds);
  beat.set_peak_rss_bytes(usage.peak_rss_bytes);
  beat.set_bytes_in(counters.bytes_in);
  beat.set_bytes_out(counters.bytes_out);
  return beat;
}

void add_activity(const Activity& activity, wire::Heartbeat& beat) {
  const Activity::State state = activity.state();
  wire::Activity& added = *beat.add_activities();
  added.set_thread(state.thread);
  added.set_kind(static_cast<wire::Activity::Kind>(state.kind));
  added.set_doing(state.doing);
  added.set_done(state.done);
  added.set_cpu_seconds(state.cpu_seconds);
}

}  // namespace paceline

// What a role says of itself in every heartbeat, whatever its work is.
#pragma once

#include "base/activity.h"
#include "net/link.h"
#include "session/protocol.pb.h"

namespace paceline {

// CPU, memory and the given bytes, as of now.
wire::Heartbeat figures(const LinkCounters& counters);
// What a thread of it does.
void add_activity(const Activity& activity, wire::Heartbeat& beat);

}  // namespace paceline

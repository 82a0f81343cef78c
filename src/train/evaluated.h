// The metrics of a test as the chief and the run's record hear of them.
#pragma once

#include <cstdint>

#include "model/metrics.h"
#include "session/protocol.pb.h"

namespace paceline {

// `epoch` is from 0.
wire::Evaluated evaluated_of(std::uint64_t version, std::uint64_t epoch, const Metrics& metrics);

}  // namespace paceline

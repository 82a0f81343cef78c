// Which cores a worker computes on, and with how many threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace paceline {

struct Placement {
  std::vector<unsigned> cores;  // to be pinned to; empty: not
  std::uint32_t threads = 1;
};

// The workers of a machine divide its cores evenly among themselves, those left over to the
// first ones. Where there are more workers than cores nobody is pinned and everyone has one
// thread. Where a quota gives them the time of fewer cores than they may run on, nobody is pinned
// either, and they divide that. `threads`: as the user wants it, though never more than there are
// cores; 0: one for each core of the worker's own.
Placement place_worker(std::span<const unsigned> cores, unsigned quota, std::uint64_t worker,
                       std::uint64_t workers, std::uint32_t threads);

// For the worker of this name ("worker1"), on this machine or on its host.
Placement place_worker(const RunConfig& config, const std::string& name);

// The configuration with as many compute threads as a worker of it has on this machine.
RunConfig with_threads(RunConfig config);

// Pins this thread and those that it will start, if the run wants it.
void take_place(const RunConfig& config, const Placement& placement);

}  // namespace paceline

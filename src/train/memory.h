// What each role of a run will need, before anything is started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/workload.h"

namespace paceline {

struct RoleMemory {
  std::string role;  // "server", "worker"
  std::uint64_t count = 1;
  std::uint64_t parameters = 0;  // bytes, all versions kept
  std::uint64_t gradients = 0;
  std::uint64_t state = 0;  // the optimizer's
  std::uint64_t data = 0;
  std::uint64_t program = 0;  // code, libraries, buffers

  std::uint64_t each() const { return parameters + gradients + state + data + program; }
  std::uint64_t all() const { return each() * count; }
};

std::vector<RoleMemory> estimate_memory(const RunConfig& config, const Workload& workload);
std::uint64_t total(const std::vector<RoleMemory>& roles);

// Throws ResourceError with the numbers when the roles on this host need more than
// `available` bytes.
// `advice` begins the last sentence: "Use fewer workers".
void check_memory(const std::vector<RoleMemory>& roles, std::uint64_t available,
                  const std::string& advice = "Use fewer workers");

}  // namespace paceline

// What the control groups of this process allow it: a share of the cores, an amount of memory.
// Pods, YARN, Slurm and systemd limit a process in this way; the host's own numbers are then larger
// than what it gets.
//
// A process is in a group of each hierarchy, and the limits of the groups around that one hold as
// well: the smallest counts. Both versions of control groups are read, also mixed on one host. What
// cannot be read limits nothing. Version 2 was tried with files that tests make, not on a host that
// has its controllers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace paceline {

struct ControlGroup {
  std::optional<double> cores;               // the time of so many; none: no limit
  std::optional<std::uint64_t> memory_left;  // bytes; what is freed on demand counts as free
};

// `root` is what /proc and the mounted hierarchies are found under: "/", but for tests.
ControlGroup read_control_group(const std::filesystem::path& root = "/");

}  // namespace paceline

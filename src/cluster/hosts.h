// The hosts that the roles of a run are placed on.
//
// A host is an address that roles listen on and, when it is one that is emulated on this
// machine, the network namespace and the cores that stand for it:
//
//   10.77.0.1 netns=h0 cores=0; 10.77.0.2 netns=h1 cores=1
//
// Worker i and server i are on host i modulo their number; the chief and the evaluator are
// on the first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct Host {
  std::string address;
  std::string netns;  // empty: that of the launcher
  std::string cores;  // as taskset has them; empty: any

  // What starts a program there, before the program's own words.
  std::vector<std::string> prefix() const;
};

// Throws ConfigError that quotes what it does not understand. Empty: no hosts.
std::vector<Host> parse_hosts(std::string_view text);

}  // namespace paceline

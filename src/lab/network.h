// A small network of emulated hosts on this machine: network namespaces behind one switch,
// each with a link of a given rate in both directions, on which TCP is cubic. Needs to be root.
// Everything is gone when the object is, and what a killed process has left is removed by the
// next. A process may have several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/hosts.h"

namespace paceline {

struct NetworkOptions {
  std::uint32_t hosts = 2;
  double bits_per_second = 1e9;
  bool one_core_each = true;  // host i on core i
};

// How much may leave an end of a link at once, however long it was idle: bytes. A packet is no
// larger either. Links above 1 Gbit/s allow 64 KB, which take at most half a millisecond: smaller
// packets would cost a third of the rate.
constexpr std::uint64_t link_burst(double bits_per_second) {
  return std::uint64_t{1024} * (bits_per_second > 1e9 ? 64 : 32);
}

class EmulatedNetwork {
 public:
  explicit EmulatedNetwork(const NetworkOptions& options);  // throws ResourceError
  ~EmulatedNetwork();
  EmulatedNetwork(const EmulatedNetwork&) = delete;
  EmulatedNetwork& operator=(const EmulatedNetwork&) = delete;

  const std::vector<Host>& hosts() const { return hosts_; }
  std::string text() const;  // of the hosts, for --hosts

  // What iperf3 carries from one host to another, in bits per second of payload.
  double measured_rate(std::uint32_t from, std::uint32_t to) const;

 private:
  void build(const NetworkOptions& options);
  void remove();

  std::string name_;  // of the switch; the hosts' names begin with it
  std::vector<Host> hosts_;
};

}  // namespace paceline

#include "lab/network.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "paceline";

std::string call(std::vector<std::string> arguments) {
  const std::string words = join(arguments, " ");
  std::string output;
  const Finished finished =
      run({.arguments = std::move(arguments), .output = {}, .keep = {}, .dies_with_parent = true},
          &output);
  if (finished.ok()) return output;
  throw ResourceError("{} {}: {}", words, finished.describe(),
                      output.empty() ? "it said nothing" : output.substr(0, output.find('\n')));
}

std::string call_in(const std::string& netns, const std::string& words) {
  std::vector<std::string> arguments = {"ip", "netns", "exec", netns};
  for (std::string& word : split(words, ' ')) arguments.push_back(std::move(word));
  return call(std::move(arguments));
}

// All of them, before any is removed: a folder that changes while it is read may hide some.
std::vector<std::string> namespaces() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/run/netns", ignored)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

// What cannot be removed is left to the next network.
void remove_namespace(const std::string& name) {
  try {
    call({"ip", "netns", "del", name});
  } catch (const Error&) {
  }
}

// Names are PREFIX-PID-…: those of processes that are gone are nobody's.
void remove_leftovers() {
  for (const std::string& name : namespaces()) {
    const std::vector<std::string> parts = split(name, '-');
    if (parts.size() < 2 || parts[0] != kPrefix) continue;
    pid_t pid = 0;
    std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), pid);
    const bool gone = pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
    if (gone) remove_namespace(name);
  }
}

// A token bucket before a queue of 100 ms. `tbf` is the obvious choice, but it cuts packets
// larger than its burst, which costs a quarter of 1 Gbit/s. The quantum is only there because
// tc wants one; there is a single class.
void limit_rate(const std::string& netns, const std::string& device, double bits_per_second) {
  const double queue = 0.1 * bits_per_second / 8;
  call_in(netns, fmt::format("tc qdisc add dev {} root handle 1: htb default 1", device));
  call_in(netns, fmt::format("tc class add dev {} parent 1: classid 1:1 htb rate {:.0f}bit "
                             "burst {} cburst {} quantum 60000",
                             device, bits_per_second, link_burst(bits_per_second),
                             link_burst(bits_per_second)));
  call_in(netns, fmt::format("tc qdisc add dev {} parent 1:1 bfifo limit {:.0f}", device, queue));
}

// TCP hands over up to 64 KB as one packet, or more where the system allows it, and no bucket holds
// back a part of one.
void keep_packets_small(const std::string& netns, double bits_per_second) {
  call_in(netns, fmt::format("ip link set dev eth0 gso_max_size {}", link_burst(bits_per_second)));
}

// Of the route: a namespace may choose the default of its sockets only among those that the
// whole machine allows everybody.
void use_cubic(const Host& host) {
  try {
    call_in(host.netns, fmt::format("ip route replace 10.77.0.0/24 dev eth0 proto kernel "
                                    "scope link src {} congctl cubic",
                                    host.address));
  } catch (const Error& error) {
    ResourceError failure(error, "emulated hosts need TCP's cubic");
    failure.add_remark("; try modprobe tcp_cubic");
    throw failure;
  }
}

std::string fresh_name() {
  static std::atomic<int> made = 0;
  return fmt::format("{}-{}-{}", kPrefix, ::getpid(), ++made);
}

}  // namespace

EmulatedNetwork::EmulatedNetwork(const NetworkOptions& options) : name_(fresh_name()) {
  if (::geteuid() != 0) {
    throw ResourceError("emulated hosts are network namespaces, which need root: use sudo");
  }
  remove_leftovers();
  try {
    build(options);
  } catch (...) {
    remove();
    throw;
  }
}

EmulatedNetwork::~EmulatedNetwork() {
  remove();
}

// A link is limited where packets leave an end of it: at the host, and at the switch.
void EmulatedNetwork::build(const NetworkOptions& options) {
  const std::string hub = name_ + "-switch";
  call({"ip", "netns", "add", hub});
  call_in(hub, "ip link add bridge type bridge");
  call_in(hub, "ip link set bridge up");
  for (std::uint32_t i = 0; i < options.hosts; ++i) {
    Host host{fmt::format("10.77.0.{}", i + 1), fmt::format("{}-h{}", name_, i), ""};
    if (options.one_core_each) host.cores = std::to_string(i % available_cores());
    const std::string port = fmt::format("port{}", i);
    call({"ip", "netns", "add", host.netns});
    hosts_.push_back(host);
    call_in(hub, fmt::format("ip link add {} type veth peer name eth0 netns {}", port, host.netns));
    call_in(hub, fmt::format("ip link set {} master bridge", port));
    call_in(hub, fmt::format("ip link set {} up", port));
    limit_rate(hub, port, options.bits_per_second);
    call_in(host.netns, "ip link set lo up");
    call_in(host.netns, fmt::format("ip addr add {}/24 dev eth0", host.address));
    call_in(host.netns, "ip link set eth0 up");
    use_cubic(host);
    keep_packets_small(host.netns, options.bits_per_second);
    limit_rate(host.netns, "eth0", options.bits_per_second);
  }
}

void EmulatedNetwork::remove() {
  for (const std::string& netns : namespaces()) {
    if (netns.starts_with(name_ + "-")) remove_namespace(netns);
  }
}

std::string EmulatedNetwork::text() const {
  std::vector<std::string> parts;
  for (const Host& host : hosts_) {
    parts.push_back(fmt::format("{} netns={}", host.address, host.netns));
    if (!host.cores.empty()) parts.back() += " cores=" + host.cores;
  }
  return join(parts, "; ");
}

double EmulatedNetwork::measured_rate(std::uint32_t from, std::uint32_t to) const {
  const Host& client = hosts_[from];
  const Host& server = hosts_[to];
  call_in(server.netns,
          fmt::format("iperf3 --server --one-off --daemon --bind {}", server.address));
  ::usleep(200'000);  // it listens a moment later
  const std::string report =
      call_in(client.netns, fmt::format("iperf3 --client {} --time 3 --json", server.address));
  const auto json = nlohmann::json::parse(report, nullptr, false);
  if (json.is_discarded() || !json.contains("end")) throw ResourceError("iperf3 said no rate");
  return json["end"]["sum_received"]["bits_per_second"].get<double>();
}

}  // namespace paceline

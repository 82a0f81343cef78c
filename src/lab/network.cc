#include "lab/network.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

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

// Names are PREFIX-PID-…: those of processes that are gone are nobody's.
void remove_leftovers() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/run/netns", ignored)) {
    const std::vector<std::string> parts = split(entry.path().filename().string(), '-');
    if (parts.size() < 2 || parts[0] != kPrefix) continue;
    pid_t pid = 0;
    std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), pid);
    if (pid > 0 && ::kill(pid, 0) != 0) call({"ip", "netns", "del", entry.path().filename()});
  }
}

}  // namespace

EmulatedNetwork::EmulatedNetwork(const NetworkOptions& options)
    : name_(fmt::format("{}-{}", kPrefix, ::getpid())) {
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
  const std::string limit =
      fmt::format("root tbf rate {:.0f}bit burst 256kb latency 100ms", options.bits_per_second);
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
    call_in(hub, fmt::format("tc qdisc add dev {} {}", port, limit));
    call_in(host.netns, "ip link set lo up");
    call_in(host.netns, fmt::format("ip addr add {}/24 dev eth0", host.address));
    call_in(host.netns, "ip link set eth0 up");
    call_in(host.netns, fmt::format("tc qdisc add dev eth0 {}", limit));
  }
}

void EmulatedNetwork::remove() {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/run/netns", ignored)) {
    const std::string netns = entry.path().filename();
    if (!netns.starts_with(name_ + "-")) continue;
    try {
      call({"ip", "netns", "del", netns});
    } catch (const Error&) {
      // The next network removes it.
    }
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

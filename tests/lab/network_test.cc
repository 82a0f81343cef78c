// Real network namespaces: these tests need root.
#include "lab/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <map>
#include <regex>
#include <thread>

#include "base/process.h"

namespace paceline {
namespace {

using testing::IsEmpty;

// Of this process, or of whichever has the id.
std::vector<std::string> namespaces_of(pid_t pid) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("paceline-" + std::to_string(pid) + "-")) names.push_back(name);
  }
  return names;
}

std::string say(std::vector<std::string> words) {
  std::string output;
  const Finished finished =
      run({.arguments = words, .output = {}, .keep = {}, .dies_with_parent = true}, &output);
  EXPECT_TRUE(finished.ok()) << words[0] << ": " << output;
  return output;
}

// A socket belongs to the namespace in which it was made.
int socket_in(const std::string& netns) {
  int made = -1;
  std::thread([&] {
    const int file = ::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC);
    if (::setns(file, CLONE_NEWNET) == 0) made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::close(file);
  }).join();
  return made;
}

std::string congestion_control(int socket) {
  std::array<char, 16> name{};
  socklen_t size = name.size();
  ::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size);
  return name.data();
}

// A process that waits until it is killed, with a namespace of its name.
struct Owner {
  pid_t pid =
      start({.arguments = {"sleep", "1000"}, .output = {}, .keep = {}, .dies_with_parent = true});
  std::string netns = "paceline-" + std::to_string(pid) + "-1-h0";

  Owner() { say({"ip", "netns", "add", netns}); }
  void end() const {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

TEST(EmulatedNetworkAsRoot, LeavesNothingHoweverManyHostsItHas) {
  for (int again = 0; again < 2; ++again) {
    {
      const EmulatedNetwork network({.hosts = 9});
      EXPECT_EQ(namespaces_of(::getpid()).size(), 10U);  // and the switch
    }
    EXPECT_THAT(namespaces_of(::getpid()), IsEmpty());
  }
}

TEST(EmulatedNetworkAsRoot, MayBeOneOfSeveral) {
  const EmulatedNetwork slow({.bits_per_second = 2e8});
  {
    const EmulatedNetwork fast({.bits_per_second = 1e9});
    EXPECT_NE(slow.text(), fast.text());
  }
  EXPECT_EQ(namespaces_of(::getpid()).size(), 3U);
}

TEST(EmulatedNetworkAsRoot, RemovesWhatDeadProcessesLeftAndNoOthers) {
  const std::array<Owner, 3> dead;
  const Owner living;
  for (const Owner& owner : dead) owner.end();
  const EmulatedNetwork network({});
  for (const Owner& owner : dead) EXPECT_THAT(namespaces_of(owner.pid), IsEmpty());
  EXPECT_EQ(namespaces_of(living.pid).size(), 1U);
  say({"ip", "netns", "del", living.netns});
  living.end();
}

TEST(EmulatedNetworkAsRoot, HasTheCongestionControlThatUsersHave) {
  const EmulatedNetwork network({});
  const int listener = socket_in(network.hosts()[0].netns);
  const int client = socket_in(network.hosts()[1].netns);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(7000);
  ASSERT_EQ(::inet_pton(AF_INET, network.hosts()[0].address.c_str(), &address.sin_addr), 1);
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, place, sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::connect(client, place, sizeof address), 0);
  const int accepted = ::accept(listener, nullptr, nullptr);
  EXPECT_EQ(congestion_control(client), "cubic");
  EXPECT_EQ(congestion_control(accepted), "cubic");
  for (const int socket : {accepted, client, listener}) ::close(socket);
}

TEST(EmulatedNetworkAsRoot, AllowsSmallBurstsAtEveryEndOfItsLinks) {
  const std::map<double, std::uint64_t> most = {
      {1e8, 32768}, {1e9, 32768}, {1e10, 65536}};  // bytes
  for (const auto& [rate, burst] : most) {
    const EmulatedNetwork network({.bits_per_second = rate});
    const std::string host = network.hosts()[1].netns;
    const std::string hub = host.substr(0, host.rfind('-')) + "-switch";
    for (const auto& [netns, device] : {std::pair(host, "eth0"), std::pair(hub, "port1")}) {
      const std::string limits =
          say({"ip", "netns", "exec", netns, "tc", "class", "show", "dev", device});
      std::smatch bytes;
      ASSERT_TRUE(std::regex_search(limits, bytes, std::regex(" burst ([0-9]+)b cburst \\1b")))
          << limits;
      EXPECT_LE(std::stoul(bytes[1]), burst);
      EXPECT_GE(std::stoul(bytes[1]), burst / 2);
    }
    const std::string link =
        say({"ip", "netns", "exec", host, "ip", "-details", "link", "show", "eth0"});
    std::smatch packet;
    ASSERT_TRUE(std::regex_search(link, packet, std::regex(" gso_max_size ([0-9]+)"))) << link;
    EXPECT_EQ(std::stoul(packet[1]), burst) << rate;
  }
}

}  // namespace
}  // namespace paceline

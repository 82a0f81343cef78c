// Push and pull through a real parameter server on TCP loopback, SGD applied: two
// processes, the same classes as in a run.
//
//   ps_loopback BYTES ROUNDS
//
// A round pushes BYTES of gradient and ends when the new parameters are here. Prints the
// median round, and the bytes of both directions over it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "exchange/ps/client.h"
#include "exchange/ps/server.h"
#include "net/socket.h"
#include "peers/child.h"

namespace {

using namespace paceline;

constexpr std::uint64_t kRun = 7;
constexpr const char* kDigest = "loopback";

struct Setting {
  ChunkMap map;
  Grid grid;
  std::uint64_t steps;
};

void serve(const Setting& setting, int address_fd) {
  Loop loop;
  ServerCore::Options options;
  options.grid = setting.grid;
  options.chunks = setting.map.chunks_of(0);
  options.last_version = setting.steps;
  ShardOptions shard_options;
  shard_options.groups = {{{0, setting.map.floats()}, 1, 1}};
  shard_options.grid = setting.grid;
  Shard shard(setting.map, 0, shard_options, Schedule({}, 1, setting.grid.examples, 1));
  const std::vector<float> zeros(setting.map.floats_of(0).size() + 1);
  for (const std::uint32_t chunk : options.chunks) {
    shard.load(chunk, 0, std::span(zeros).first(setting.map.floats_of(chunk).size()), {});
  }
  PsServer server(options, std::move(shard), kDigest, [](const ChiefWord&) {});
  LinkOptions link_options;
  link_options.run = kRun;
  const Listener listener(
      loop, Address{Address::Kind::kTcp, "127.0.0.1", 0}, link_options,
      [&](std::shared_ptr<Link> link) { return server.accept(std::move(link)); });
  const std::string text = listener.address().text();
  if (::write(address_fd, text.data(), text.size()) < 0) return;
  ::close(address_fd);
  loop.run();
}

std::vector<double> push_and_pull(const Setting& setting, const std::string& address) {
  Loop loop;
  PsClientOptions options;
  options.core.grid = setting.grid;
  options.core.chunks = setting.map.chunks();
  options.core.incarnation = 1;
  options.core.last_version = setting.steps;
  options.name = "worker";
  PsAddress servers;
  servers.servers.emplace_back().set_name("server");
  servers.servers.back().set_address(address);
  servers.run = kRun;
  servers.digest = kDigest;
  servers.role = "worker";
  servers.name = "worker";
  servers.incarnation = 1;
  PsClient client(loop, setting.map, options, servers, [](const ChiefWord&) {});
  wire::Plan plan;
  plan.set_epoch(1);
  plan.add_entries()->set_worker(1);
  plan.mutable_entries(0)->set_weight(1);
  client.told(wire::PLAN, plan.SerializeAsString());
  const Range all{0, setting.map.floats()};
  std::vector<double> rounds;
  TimePoint last;
  while (client.next()) {
    client.begin(1);
    client.await(all);
    const TimePoint now = Clock::now();
    if (last != TimePoint()) rounds.push_back(seconds(now - last));
    last = now;
    if (rounds.empty()) std::ranges::fill(client.gradient(), 0.001F);
    client.ready(all);
    client.finish({1, 1, 1, 1}, nullptr);
  }
  return rounds;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: ps_loopback BYTES ROUNDS");
  const std::uint64_t bytes = std::stoull(argv[1]);
  const std::uint64_t rounds = std::stoull(argv[2]) + 2;
  const Setting setting{ChunkMap(bytes / sizeof(float), 1), Grid{rounds, 1, 1}, rounds};
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("cannot make a pipe");
  const bench::Child server([&] { serve(setting, pipe[1]); });
  ::close(pipe[1]);
  std::array<char, 100> address{};
  const ssize_t length = ::read(pipe[0], address.data(), address.size());
  if (length <= 0) throw std::runtime_error("the server did not start");
  auto times =
      push_and_pull(setting, std::string(address.data(), static_cast<std::size_t>(length)));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf("{\"seconds_per_round\": %.9f, \"bytes_per_second\": %.0f}\n", *middle,
              2.0 * static_cast<double>(bytes) / *middle);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ps_loopback: %s\n", error.what());
  return 1;
}

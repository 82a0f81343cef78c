// Push and pull through real parameter servers, SGD applied, without a model or a run around
// it: a server and a worker, two processes, with the same classes as in a run.
//
//   ps_bench BYTES ROUNDS [RANK SIZE ADDRESS NOTES]
//
// A round pushes BYTES of gradient and ends when the new parameters are here. Prints the
// median round, and the bytes of both directions over it. With the further words there is a
// server and a worker on each of SIZE hosts, with an address each; every server has an equal
// part of the parameters, and NOTES is a folder that all see.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "exchange/ps/client.h"
#include "exchange/ps/server.h"
#include "exchange/ps/shard.h"
#include "file_notes.h"
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
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::string address = "127.0.0.1";
};

void serve(const Setting& setting, int address_fd) {
  Loop loop;
  ServerCore::Options options;
  options.grid = setting.grid;
  options.chunks = setting.map.chunks_of(setting.rank);
  options.servers = setting.size;
  // There is no chief to decide for several servers.
  if (setting.size > 1) options.rules.nonfinite = Nonfinite::kIgnore;
  options.last_version = setting.steps;
  ShardOptions shard_options;
  shard_options.groups = {{{0, setting.map.floats()}, 1, 1}};
  shard_options.grid = setting.grid;
  auto shard = std::make_unique<Shard>(setting.map, setting.rank, shard_options,
                                       Schedule({}, 1, setting.grid.examples, 1));
  for (const std::uint32_t chunk : options.chunks) {
    shard->load(chunk, 0, std::vector<float>(setting.map.floats_of(chunk).size()), {});
  }
  PsServer server(
      options, std::move(shard), kDigest, [](const ChiefWord&) {}, [] { throw; });
  LinkOptions link_options;
  link_options.run = kRun;
  // Several hosts are as a run has them; alone it is compared with an echo, over TCP as that.
  link_options.short_cut = setting.size > 1;
  const Listener listener(
      loop, Address{Address::Kind::kTcp, setting.address, 0}, link_options,
      [&](std::shared_ptr<Link> link) { return server.accept(std::move(link)); }, setting.size > 1);
  const std::string text = listener.address().text();
  if (::write(address_fd, text.data(), text.size()) < 0) return;
  ::close(address_fd);
  loop.run();
}

std::vector<double> push_and_pull(const Setting& setting,
                                  const std::vector<std::string>& addresses) {
  const bool pumped = wants_pump(setting.map);
  Loop loop(pumped ? Duration::zero() : std::chrono::microseconds(100));
  PsClientOptions options;
  options.pumped = pumped;
  options.core.grid = setting.grid;
  options.core.chunks = setting.map.chunks();
  options.core.incarnation = setting.rank + 1;
  options.core.last_version = setting.steps;
  options.name = "worker";
  PsAddress servers;
  for (const std::string& address : addresses) {
    servers.servers.emplace_back().set_name("server" + std::to_string(servers.servers.size()));
    servers.servers.back().set_address(address);
  }
  servers.self = {kRun, kDigest, "worker", "worker"};
  servers.incarnation = setting.rank + 1;
  PsClient client(loop, setting.map, options, servers, [](const ChiefWord&) {});
  wire::Assignment assignment;
  assignment.set_epoch(1);
  for (std::uint32_t rank = 0; rank < setting.size; ++rank) {
    auto* entry = assignment.add_entries();
    entry->set_worker(rank + 1);
    entry->set_weight(1);
  }
  client.told(wire::ASSIGNMENT, assignment.SerializeAsString());
  const Range all{0, setting.map.floats()};
  std::vector<double> rounds;
  TimePoint last;
  while (client.next()) {
    client.begin(1);
    client.await(all);
    const TimePoint now = Clock::now();
    if (last != TimePoint()) rounds.push_back(seconds(now - last));
    last = now;
    // Zeros would not travel.
    if (client.gradient().front() != 0.001F) std::ranges::fill(client.gradient(), 0.001F);
    client.ready(all);
    client.finish({1, 1, 1, 1}, nullptr);
  }
  return rounds;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 2 && words.size() != 6) {
    throw std::invalid_argument("usage: ps_bench BYTES ROUNDS [RANK SIZE ADDRESS NOTES]");
  }
  const bool many = words.size() == 6;
  const std::uint64_t bytes = std::stoull(words[0]);
  const std::uint64_t rounds = std::stoull(words[1]) + 2;
  const auto rank = many ? static_cast<std::uint32_t>(std::stoul(words[2])) : 0;
  const auto size = many ? static_cast<std::uint32_t>(std::stoul(words[3])) : 1;
  const Setting setting{
      ChunkMap(bytes / sizeof(float), size), Grid{rounds * size, size, 1}, rounds, rank, size,
      many ? words[4] : "127.0.0.1"};
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("cannot make a pipe");
  const bench::Child server([&] { serve(setting, pipe[1]); });
  ::close(pipe[1]);
  std::array<char, 100> text{};
  const ssize_t length = ::read(pipe[0], text.data(), text.size());
  if (length <= 0) throw std::runtime_error("the server did not start");
  const std::string own(text.data(), static_cast<std::size_t>(length));
  // Every host leaves a note; returns those of all.
  const auto exchange = [&](const std::string& key, const std::string& note) {
    bench::FileNotes notes(words[5]);
    notes.leave(key + std::to_string(rank), note);
    std::vector<std::string> all;
    for (std::uint32_t other = 0; other < size; ++other) {
      all.push_back(notes.find(key + std::to_string(other)));
    }
    return all;
  };
  auto times =
      push_and_pull(setting, many ? exchange("server", own) : std::vector<std::string>{own});
  if (many) exchange("done", "");  // the servers are needed until then
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::printf("{\"seconds_per_round\": %.9f, \"bytes_per_second\": %.0f}\n", *middle,
              2.0 * static_cast<double>(bytes) / *middle);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ps_bench: %s\n", error.what());
  return 1;
}

// Rows of a table of 2^26, read and updated with AdaGrad: the same lists of rows, ascending, in
// memory or through a real parameter server in another process, with the classes of a run.
//
//   rows_bench memory|server ROWS ROUNDS
//
// A round reads the weights of ROWS rows and applies a gradient to them. Prints the time per
// round.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "exchange/ps/row_client.h"
#include "exchange/ps/row_shard.h"
#include "exchange/ps/server.h"
#include "net/socket.h"
#include "peers/child.h"

namespace {

using namespace paceline;

constexpr std::uint64_t kRun = 7;
constexpr const char* kDigest = "rows";
constexpr std::uint64_t kTable = std::uint64_t{1} << 26;
constexpr std::size_t kLists = 32;  // so that no list is in a cache when it comes again

std::vector<std::vector<Key>> made_up_lists(std::size_t rows) {
  std::vector<std::vector<Key>> lists(kLists);
  for (std::size_t i = 0; i < kLists; ++i) {
    Random random(random_bits(1, {i}));
    for (std::size_t k = 0; k < rows; ++k) {
      lists[i].push_back(static_cast<Key>(random.below(kTable)));
    }
    std::ranges::sort(lists[i]);
    lists[i].erase(std::ranges::unique(lists[i]).begin(), lists[i].end());
  }
  return lists;
}

OptimizerOptions adagrad() {
  OptimizerOptions options;
  options.kind = OptimizerKind::kAdagrad;
  return options;
}

double in_memory(std::size_t rows, std::uint64_t rounds) {
  const auto lists = made_up_lists(rows);
  RowTable table(kTable);
  RowUpdate update(adagrad());
  RowRule rule;
  std::vector<TableRow> read(rows);
  std::vector<TableRow> before;
  std::vector<float> weights(rows);
  const std::vector<float> gradient(rows, 0.001F);
  TimePoint began;
  for (std::uint64_t round = 0; round < rounds + kLists; ++round) {
    if (round == kLists) began = Clock::now();
    const std::vector<Key>& list = lists[round % kLists];
    read_rows(table.rows(), list, std::span(read).first(list.size()));
    weights_of(rule, std::span(read).first(list.size()), std::span(weights).first(list.size()));
    update.apply({0.1, 1, round + 1}, list, std::span(gradient).first(list.size()), table.rows(),
                 before);
  }
  return seconds(Clock::now() - began) / static_cast<double>(rounds);
}

struct Served {
  Grid grid;
  std::uint64_t steps;
};

void serve(const Served& served, int address_fd) {
  Loop loop;
  ServerCore::Options options;
  options.mode = Mode::kAsync;
  options.grid = served.grid;
  options.chunks = {0};
  options.last_version = served.steps;
  options.rows = true;
  RowShardOptions shard_options;
  shard_options.optimizer = adagrad();
  shard_options.mode = Mode::kAsync;
  shard_options.grid = served.grid;
  PsServer server(
      options,
      std::make_unique<RowShard>(RowDeal(kTable, 1), 0, shard_options,
                                 Schedule({.rate = 0.1}, 1, served.grid.examples, 1)),
      kDigest, [](const ChiefWord&) {}, [] { throw; });
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

double through_server(std::size_t rows, std::uint64_t rounds) {
  const auto lists = made_up_lists(rows);
  const std::uint64_t steps = rounds + kLists;
  const Served served{Grid{steps, 1, 1}, steps};
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("cannot make a pipe");
  const bench::Child child([&] { serve(served, pipe[1]); });
  ::close(pipe[1]);
  std::array<char, 100> text{};
  const ssize_t length = ::read(pipe[0], text.data(), text.size());
  if (length <= 0) throw std::runtime_error("the server did not start");
  Loop loop;
  RowClientOptions options;
  options.client.core.mode = Mode::kAsync;
  options.client.core.grid = served.grid;
  options.client.core.incarnation = 1;
  options.client.core.last_version = steps;
  options.client.core.rows = true;
  options.client.name = "worker";
  options.ahead = true;
  PsAddress address;
  address.servers.emplace_back().set_name("server0");
  address.servers.back().set_address(std::string(text.data(), static_cast<std::size_t>(length)));
  address.self = {kRun, kDigest, "worker", "worker"};
  address.incarnation = 1;
  RowClient client(loop, RowDeal(kTable, 1), options, address, [](const ChiefWord&) {});
  wire::Lease lease;
  lease.add_steps()->set_end(steps);
  client.told(wire::LEASE, lease.SerializeAsString());
  std::vector<Batch> batches(kLists);
  for (std::size_t i = 0; i < kLists; ++i) batches[i].touched = lists[i];
  TimePoint began;
  std::uint64_t round = 0;
  while (const auto share = client.next()) {
    if (round == kLists) began = Clock::now();
    client.expect(*share, batches[round % kLists]);
    if (const auto next = client.after(*share)) {
      client.expect(*next, batches[(round + 1) % kLists]);
    }
    client.begin(1);
    client.await({});
    std::ranges::fill(client.gradient(), 0.001F);
    client.finish({1, 1, 1, 1}, nullptr);
    if (++round == steps) break;  // there is no chief to say that it is over
  }
  client.drain();
  return seconds(Clock::now() - began) / static_cast<double>(rounds);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 3 || (words[0] != "memory" && words[0] != "server")) {
    throw std::invalid_argument("usage: rows_bench memory|server ROWS ROUNDS");
  }
  const std::size_t rows = std::stoull(words[1]);
  const std::uint64_t rounds = std::stoull(words[2]);
  const double took = words[0] == "memory" ? in_memory(rows, rounds) : through_server(rows, rounds);
  std::printf("{\"seconds_per_round\": %.9f, \"rows_per_second\": %.0f}\n", took,
              static_cast<double>(rows) / took);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "rows_bench: %s\n", error.what());
  return 1;
}

// RowClient with RowShard behind a real server: workers and servers of one process that share a
// loop, and a plain table that is told the same.
#include "exchange/ps/row_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "exchange/ps/row_reader.h"
#include "exchange/ps/row_shard.h"
#include "exchange/ps/server.h"
#include "net/socket.h"

namespace paceline {
namespace {

constexpr std::uint64_t kTableRows = 211;
constexpr std::uint64_t kRun = 77;
constexpr Duration kSoon = std::chrono::seconds(20);
const Grid kRowGrid{43, 10, 3};  // nothing divides
const std::uint64_t kSteps = 3 * kRowGrid.steps_per_epoch();
const Schedule kRowSchedule({.rate = 0.5}, kRowGrid.batch, kRowGrid.examples, 3);

// The keys of an example, ascending; some are in many.
std::vector<Key> keys_of(std::uint64_t step, std::uint64_t position) {
  Random random(random_bits(1, {step, position}));
  std::vector<Key> keys = {0, static_cast<Key>(random.below(5))};
  for (int i = 0; i < 4; ++i) keys.push_back(static_cast<Key>(random.below(kTableRows)));
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// It depends on the weight, so that one that was read wrongly shows in all that follows.
float slope(std::uint64_t step, std::uint64_t position, Key key, float weight) {
  return 0.3F * weight + static_cast<float>(Random(random_bits(2, {step, position, key})).normal());
}

Batch batch_of(const Share& share) {
  const Range positions = kRowGrid.positions(share);
  Batch batch;
  batch.weight = static_cast<double>(positions.size());
  for (std::uint64_t p = positions.begin; p < positions.end; ++p) {
    const std::vector<Key> keys = keys_of(share.step, p);
    batch.touched.insert(batch.touched.end(), keys.begin(), keys.end());
  }
  std::ranges::sort(batch.touched);
  batch.touched.erase(std::unique(batch.touched.begin(), batch.touched.end()), batch.touched.end());
  return batch;
}

// The gradient sum of some tiles for the keys of the share.
void add_slopes(const Share& share, const std::vector<Key>& keys, std::span<const float> weights,
                std::span<float> sum) {
  const Range positions = kRowGrid.positions(share);
  for (std::uint64_t p = positions.begin; p < positions.end; ++p) {
    for (const Key key : keys_of(share.step, p)) {
      const auto place =
          static_cast<std::size_t>(std::ranges::lower_bound(keys, key) - keys.begin());
      sum[place] += slope(share.step, p, key, weights[place]);
    }
  }
}

// All versions of a table that one thread changes step by step.
std::vector<std::vector<float>> plain_tables() {
  std::vector<Key> all(kTableRows);
  for (Key key = 0; key < kTableRows; ++key) all[key] = key;
  std::vector<std::vector<float>> tables = {std::vector<float>(kTableRows)};
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    std::vector<float> table = tables.back();
    std::vector<float> sum(kTableRows);
    add_slopes(kRowGrid.whole(step), all, table, sum);
    const auto count = static_cast<float>(kRowGrid.positions(step).size());
    for (Key key = 0; key < kTableRows; ++key) table[key] -= 0.5F * sum[key] / count;
    tables.push_back(std::move(table));
  }
  return tables;
}

struct ClusterShape {
  std::uint32_t servers = 1;
  std::uint32_t workers = 1;
  Mode mode = Mode::kSync;
  bool deterministic = false;
};

class RowCluster {
 public:
  explicit RowCluster(const ClusterShape& shape) : shape_(shape), deal_(kTableRows, shape.servers) {
    for (std::uint32_t worker = 1; worker <= shape.workers; ++worker) {
      assignment_.entries.push_back({worker, 1});
    }
    for (std::uint32_t server = 0; server < shape.servers; ++server) start_server(server);
    for (std::uint32_t worker = 1; worker <= shape.workers; ++worker) start_worker(worker);
  }

  // All workers in turn, each with its share of every step; of short ones some have none.
  void train() {
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      for (std::uint32_t worker = 1; worker <= shape_.workers; ++worker) {
        const Range tiles = assignment_.tiles_for(worker, kRowGrid.tiles(step));
        if (tiles.empty()) continue;
        RowClient& client = *clients_[worker - 1];
        const auto share = client.next();
        ASSERT_EQ(share, (Share{step, tiles}));
        compute(client, *share);
      }
    }
    for (const auto& client : clients_) {
      if (shape_.mode != Mode::kSync) client->told(wire::STOP, wire::Stop().SerializeAsString());
      EXPECT_FALSE(client->next());
    }
    const auto done = [this] {
      return std::ranges::all_of(shards_, [](const auto* s) { return s->version() == kSteps; });
    };
    ASSERT_TRUE(loop_.run_until(done, Clock::now() + kSoon));
  }

  // What a worker gets that waits for its first rows when it is aborted.
  Error abort(const Error& reason) {
    RowClient& client = *clients_.front();
    const Share share = client.next().value();
    const Batch batch = batch_of(share);
    client.expect(share, batch);
    client.begin(batch.weight);
    client.abort(reason);
    client.abort(CommError("the chief is gone"));  // the first counts
    try {
      client.await({0, batch.touched.size()});
    } catch (const Error& error) {
      return error;
    }
    return Error("nothing was thrown");
  }

  std::vector<float> table(std::uint64_t version) {
    RowReader reader(loop_, deal_, address("evaluator", 100), kSoon);
    std::vector<float> values(kTableRows);
    reader.read(version, 0, {0, kTableRows}, values);
    return values;
  }
  std::uint64_t rows_exchanged() const {
    std::uint64_t rows = 0;
    for (const auto& client : clients_) rows += client->rows();
    return rows;
  }
  std::uint64_t rows_kept(std::uint32_t server) const { return shards_[server]->rows_kept(); }
  void unpin(std::uint64_t version) {
    wire::Unpin unpin;
    unpin.set_version(version);
    for (const auto& server : servers_) server->told(wire::UNPIN, unpin.SerializeAsString());
  }

 private:
  void start_server(std::uint32_t server) {
    ServerCore::Options options;
    options.mode = shape_.mode;
    options.grid = kRowGrid;
    options.chunks = {server};
    options.servers = shape_.servers;
    options.last_version = kSteps;
    options.rows = true;
    RowShardOptions shard_options;
    shard_options.mode = shape_.mode;
    shard_options.grid = kRowGrid;
    shard_options.deterministic = shape_.deterministic;
    auto shard = std::make_unique<RowShard>(deal_, server, shard_options, kRowSchedule);
    shards_.push_back(shard.get());
    servers_.push_back(std::make_unique<PsServer>(
        options, std::move(shard), "digest", [](ChiefWord) {}, [] { throw; }));
    LinkOptions links;
    links.run = kRun;
    const std::string file = "unix:" + folder_.file("server" + std::to_string(server));
    listeners_.push_back(std::make_unique<Listener>(
        loop_, Address::parse(file), links,
        [to = servers_.back().get()](auto link) { return to->accept(std::move(link)); }));
  }

  void start_worker(std::uint32_t worker) {
    RowClientOptions options;
    options.client.core.mode = shape_.mode;
    options.client.core.grid = kRowGrid;
    options.client.core.chunks = shape_.servers;
    options.client.core.incarnation = worker;
    options.client.core.last_version = kSteps;
    options.client.core.rows = true;
    options.client.deadline = kSoon;
    clients_.push_back(std::make_unique<RowClient>(loop_, deal_, options, address("worker", worker),
                                                   [](ChiefWord) {}));
    if (shape_.mode == Mode::kSync) {
      wire::Assignment assignment;
      assignment.set_epoch(1);
      for (const AssignmentEntry& entry : assignment_.entries) {
        wire::AssignmentEntry& added = *assignment.add_entries();
        added.set_worker(entry.worker);
        added.set_weight(entry.weight);
      }
      clients_.back()->told(wire::ASSIGNMENT, assignment.SerializeAsString());
    } else {
      wire::Lease lease;
      lease.add_steps()->set_end(kSteps);
      clients_.back()->told(wire::LEASE, lease.SerializeAsString());
    }
  }

  PsAddress address(const std::string& role, std::uint32_t incarnation) const {
    PsAddress address{{}, {kRun, "digest", role, role + std::to_string(incarnation)}, incarnation};
    for (const auto& listener : listeners_) {
      wire::ServerAt& at = address.servers.emplace_back();
      at.set_name("server" + std::to_string(address.servers.size() - 1));
      at.set_address(listener->address().text());
    }
    return address;
  }

  // As the training loop does: the rows of the next share are named before this one is computed.
  void compute(RowClient& client, const Share& share) {
    const Batch batch = batch_of(share);
    client.expect(share, batch);
    if (const auto next = client.after(share); next && !next->tiles.empty()) {
      client.expect(*next, batch_of(*next));
    }
    client.begin(batch.weight);
    client.await({0, batch.touched.size()});
    ASSERT_EQ(client.parameters().size(), batch.touched.size());
    Loss loss;
    loss.weight = batch.weight;
    loss.examples = static_cast<std::uint64_t>(batch.weight);
    if (!shape_.deterministic) {
      std::ranges::fill(client.gradient(), 0.0F);
      add_slopes(share, batch.touched, client.parameters(), client.gradient());
      return client.finish(loss, nullptr);
    }
    TreeSum tree(batch.touched.size());
    for (std::uint64_t tile = share.tiles.begin; tile < share.tiles.end; ++tile) {
      std::vector<float> sum(batch.touched.size());
      add_slopes({share.step, {tile, tile + 1}}, batch.touched, client.parameters(), sum);
      tree.add({tile, tile + 1}, sum);
    }
    client.finish(loss, &tree);
  }

  ClusterShape shape_;
  RowDeal deal_;
  Assignment assignment_;
  TempDir folder_;
  Loop loop_;
  std::vector<RowShard*> shards_;
  std::vector<std::unique_ptr<PsServer>> servers_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<RowClient>> clients_;
};

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = a.size() == b.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
  }
  return most;
}

class RowClients : public testing::TestWithParam<std::pair<std::uint32_t, std::uint32_t>> {};

INSTANTIATE_TEST_SUITE_P(ServersAndWorkers, RowClients,
                         testing::Values(std::pair(1, 1), std::pair(2, 1), std::pair(1, 2),
                                         std::pair(3, 2), std::pair(5, 3)));

TEST_P(RowClients, LearnWhatAPlainTableLearns) {
  const auto [servers, workers] = GetParam();
  const auto expected = plain_tables();
  RowCluster cluster({servers, workers});
  ASSERT_NO_FATAL_FAILURE(cluster.train());
  EXPECT_LT(difference(cluster.table(kSteps), expected.back()), 1e-5);
  EXPECT_GT(difference(expected.front(), expected.back()), 0.1);  // it has learned something
  EXPECT_LT(cluster.rows_exchanged(), kSteps * workers * kTableRows / 2);
}

// An epoch that is being tested or saved, while the servers have gone on.
TEST_P(RowClients, ReadVersionsThatAreKept) {
  const auto [servers, workers] = GetParam();
  const auto expected = plain_tables();
  RowCluster cluster({servers, workers});
  ASSERT_NO_FATAL_FAILURE(cluster.train());
  const std::uint64_t epoch = kRowGrid.steps_per_epoch();
  for (const std::uint64_t version : {epoch, 2 * epoch, kSteps - 1, kSteps}) {
    EXPECT_LT(difference(cluster.table(version), expected[version]), 1e-5) << version;
  }
  const std::uint64_t kept = cluster.rows_kept(0);
  for (const std::uint64_t version : {epoch, 2 * epoch}) cluster.unpin(version);
  EXPECT_LT(cluster.rows_kept(0), kept);
  EXPECT_THROW(cluster.table(epoch), CommError);
  EXPECT_LT(difference(cluster.table(kSteps), expected.back()), 1e-5);
}

TEST_P(RowClients, HaveTheSameBitsHoweverWorkIsDealt) {
  const auto [servers, workers] = GetParam();
  RowCluster one({1, 1, Mode::kSync, true});
  ASSERT_NO_FATAL_FAILURE(one.train());
  RowCluster many({servers, workers, Mode::kSync, true});
  ASSERT_NO_FATAL_FAILURE(many.train());
  EXPECT_EQ(one.table(kSteps), many.table(kSteps));
  EXPECT_LT(difference(one.table(kSteps), plain_tables().back()), 1e-5);
}

// Callers tell a worker that was interrupted from one that has lost a server by the exit code.
TEST(RowClientTest, WhatItIsAbortedWithIsThrownToWhoWaits) {
  RowCluster cluster({1, 1});
  Error reason(Error("somebody asked"), "interrupted", ExitCode::kInterrupted);
  reason.set_about("worker1");
  const Error thrown = cluster.abort(reason);
  EXPECT_STREQ(thrown.what(), "interrupted: somebody asked");
  EXPECT_EQ(thrown.code(), ExitCode::kInterrupted);
  EXPECT_EQ(thrown.reasons().front().about, "worker1");
  EXPECT_EQ(thrown.reasons().size(), 2U);
}

// A worker that is alone and does not read ahead sees all that it has pushed.
TEST(AsyncRowClients, LearnWhatAPlainTableLearns) {
  for (const std::uint32_t servers : {1, 2, 3}) {
    RowCluster cluster({servers, 1, Mode::kAsync});
    ASSERT_NO_FATAL_FAILURE(cluster.train());
    EXPECT_LT(difference(cluster.table(kSteps), plain_tables().back()), 1e-5) << servers;
  }
}

}  // namespace
}  // namespace paceline

// Sparse rows with parameter servers, on one machine and between hosts.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "lab/figures.h"

namespace paceline {
namespace {

constexpr double kPsBatch = 4096;

// Of two workers; more words may follow.
std::vector<std::string> ps_words(std::vector<std::string> more, const char* epochs = "1") {
  more.insert(more.begin(), {"--exchange", "ps", "--batch", "4096", "--workers", "2", "--epochs",
                             epochs, "--checkpoint-every", "0"});
  return more;
}

std::vector<nlohmann::json> roles(const nlohmann::json& summary, const char* role) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& entry : summary.at("roles")) {
    if (entry.at("role") == role) found.push_back(entry);
  }
  if (found.empty()) throw Error(fmt::format("the run had no {}", role));
  return found;
}

double total(const std::vector<nlohmann::json>& entries, const char* field) {
  double sum = 0;
  for (const nlohmann::json& entry : entries) sum += number_in(entry, field, "paceline");
  return sum;
}

double bytes_per_row(const nlohmann::json& summary) {
  const auto workers = roles(summary, "worker");
  return (total(workers, "bytes_in") + total(workers, "bytes_out")) / total(workers, "rows");
}

Figure bytes_of_rows(const Measurements& measurements) {
  return {.name = "clicks.bytes",
          .what = "bytes per row that a share touches, both ways, sync, batch 4096, two workers",
          .comparison = Comparison::kAtMost,
          .target = 12,
          .unit = "B",
          .relation = Relation::kOursAlone,
          .side_unit = "B",
          .ours = {"paceline", measurements.clicks({ps_words({"--mode", "sync"})}, bytes_per_row)},
          .pairs = 1};
}

// What workers sent to the server that got most, against the mean.
double largest_by_mean(const nlohmann::json& summary) {
  const auto servers = roles(summary, "server");
  double largest = 0;
  for (const nlohmann::json& server : servers) {
    largest = std::max(largest, number_in(server, "bytes_in", "paceline"));
  }
  return largest * static_cast<double>(servers.size()) / total(servers, "bytes_in");
}

Figure balance(const Measurements& measurements) {
  Measure worst = measurements.clicks({ps_words({"--servers", "2"})}, largest_by_mean);
  for (const char* servers : {"3", "4", "5", "6", "7", "8"}) {
    worst =
        larger_of(worst, measurements.clicks({ps_words({"--servers", servers})}, largest_by_mean));
  }
  return {.name = "clicks.balance",
          .what = "bytes of the server that gets most, against the mean, worst of 2 to 8 servers",
          .comparison = Comparison::kAtMost,
          .target = 1.10,
          .unit = "×",
          .relation = Relation::kOursAlone,
          .side_unit = "×",
          .ours = {"paceline", worst},
          .pairs = 1};
}

Figure through_server(const Measurements& measurements) {
  const auto side = [&](const char* where) {
    return measurements.program({"rows_bench", {where, "20000", "1000"}, "seconds_per_round", 1e6});
  };
  return {.name = "clicks.server",
          .what = "20,000 rows read and updated through a server on loopback, against in memory",
          .comparison = Comparison::kAtLeast,
          .target = 0.5,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "µs/round",
          .ours = {"server", side("server")},
          .peer = {"memory", side("memory")},
          .pairs = 5};
}

double peak_of_workers(const nlohmann::json& summary) {
  double peak = 0;
  for (const nlohmann::json& worker : roles(summary, "worker")) {
    peak = std::max(peak, number_in(worker, "peak_rss_bytes", "paceline"));
  }
  return peak / 1e6;
}

Figure memory_of_workers(const Measurements& measurements) {
  const auto side = [&](const char* bits) {
    // Long enough that every worker has seen all of the data, which are mapped.
    return measurements.clicks({ps_words({"--bits", bits, "--optimizer", "adagrad"}, "4")},
                               peak_of_workers);
  };
  return {.name = "clicks.memory",
          .what = "peak memory of a worker, table of 2^28 weights against 2^26",
          .comparison = Comparison::kAtMost,
          .target = 1.10,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "MB",
          .ours = {"2^28", side("28")},
          .peer = {"2^26", side("26")},
          .pairs = 1};
}

// Two hosts with a worker and a server each, and a core: a worker's rows are half on its own host,
// half on the other's, so what a worker sends and receives crosses the link by half, and each host
// sends as much as the other.
struct PerStep {
  double wall = 0;
  double compute = 0;  // processor time of a worker, and of the server beside it for workers
  double bytes = 0;    // that a host sends to the other, and the other to it
};

PerStep per_step(const nlohmann::json& summary, double steps_of_worker) {
  PerStep step;
  step.wall = number_in(summary, "train_seconds", "paceline") / steps_of_worker;
  const auto servers = roles(summary, "server");
  const auto workers = roles(summary, "worker");
  const auto count = static_cast<double>(workers.size());
  step.compute = (total(workers, "training_cpu_seconds") + total(servers, "training_cpu_seconds")) /
                 count / steps_of_worker;
  step.bytes =
      (total(workers, "bytes_in") + total(workers, "bytes_out")) / count / 2 / steps_of_worker;
  return step;
}

PerStep sync_step(const nlohmann::json& summary) {
  return per_step(summary, number_in(summary, "examples", "paceline") / kPsBatch);
}

// A step is one worker's.
PerStep ssp_step(const nlohmann::json& summary) {
  return per_step(summary, number_in(summary, "examples", "paceline") / kPsBatch / 2);
}

double sync_milliseconds(const nlohmann::json& summary) {
  return 1e3 * sync_step(summary).wall;
}

double ssp_milliseconds(const nlohmann::json& summary) {
  return 1e3 * ssp_step(summary).wall;
}

// One after the other, without the round trips.
double sync_bound(const nlohmann::json& summary, double bytes_per_second) {
  const PerStep step = sync_step(summary);
  return 1e3 * (step.compute + step.bytes / bytes_per_second);
}

// Whichever is longer.
double ssp_bound(const nlohmann::json& summary, double bytes_per_second) {
  const PerStep step = ssp_step(summary);
  return 1e3 * std::max(step.compute, step.bytes / bytes_per_second);
}

Figure on_hosts(const Measurements& measurements, const HostMeasurements& hosts, bool sync) {
  const auto words = [measurements, sync] {
    std::vector<std::string> all = measurements.click_words();
    const auto more = ps_words(
        sync ? std::vector<std::string>{"--servers", "2", "--mode", "sync"}
             : std::vector<std::string>{"--servers", "2", "--mode", "ssp", "--staleness", "2"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto [ours, peer] = hosts.training_and_bound(
      kGigabit, words, sync ? sync_milliseconds : ssp_milliseconds, sync ? sync_bound : ssp_bound);
  return {.name = sync ? "clicks.hosts_sync" : "clicks.hosts_ssp",
          .what = sync ? "step on two hosts at 1 Gbit/s against compute plus bytes over the rate"
                       : "step with a staleness of 2 against compute or bytes over the rate",
          .comparison = Comparison::kAtMost,
          .target = sync ? 1.15 : 1.2,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "ms/step",
          .ours = {"paceline", ours},
          .peer = {"bound", peer},
          .pairs = 5};
}

}  // namespace

std::vector<Figure> make_click_ps_figures(const Measurements& measurements,
                                          const HostMeasurements& hosts) {
  return {bytes_of_rows(measurements),          on_hosts(measurements, hosts, true),
          on_hosts(measurements, hosts, false), balance(measurements),
          through_server(measurements),         memory_of_workers(measurements)};
}

}  // namespace paceline

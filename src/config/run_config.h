// Everything a run depends on, as plain data.
//
// resolve.h fills it from flags and a recipe, checks it, and writes it to the run directory as
// config.toml; every role of the run reads that file, so all of them agree. A field here,
// the flag, the recipe key and the row in docs/settings.md share one name
// (member_timeout ↔ --member-timeout ↔ member-timeout = "5s").
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "data/catalogue/options.h"
#include "data/loader.h"
#include "data/order.h"
#include "exchange/allreduce/factors.h"
#include "exchange/options.h"
#include "model/options.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace paceline {

enum class ExchangeKind { kPs, kLocal, kAllReduce };
enum class Transport { kUnix, kTcp };
// What servers and workers exchange of a table: the rows that a share touches, or all.
enum class Transfer { kSparse, kDense };

struct RunConfig {
  std::string recipe;  // name of the recipe, e.g. "mnist"

  // What is learned from what.
  DataOptions data;
  OrderOptions order;
  ModelOptions model;
  std::uint64_t seed = 1;

  // How it is learned.
  std::uint64_t batch = 100;
  std::uint64_t tile = 0;  // examples per tile; 0: so that a step has at most 64
  std::uint64_t epochs = 10;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  std::vector<ParameterGroup> groups;
  double clip = 0;  // largest norm of a step's gradient; 0: no clipping
  Nonfinite nonfinite = Nonfinite::kStop;
  Reduction reduction = Reduction::kMean;
  double sum_factor = 0;  // with `sum`: mean times this; 0: see resolve.cc

  // Who does it, and how they agree.
  ExchangeKind exchange = ExchangeKind::kPs;
  WireFormat wire = WireFormat::kFloat;
  Transfer transfer = Transfer::kSparse;
  FactorOptions factors;
  Mode mode = Mode::kSync;
  std::uint64_t staleness = 2;  // ssp: how many clocks a reader may be ahead
  bool deterministic = false;   // the same bits under any cut, membership or fault
  std::uint64_t servers = 1;
  std::uint64_t workers = 2;
  LoaderOptions loader;
  bool pin = true;                 // each worker to its own cores
  std::uint64_t lease_block = 16;  // steps leased ahead at a time in async and ssp mode
  bool worker_eval = true;         // async and ssp: each worker tests its own view every epoch

  // Processes and sockets.
  Transport transport = Transport::kUnix;
  std::string listen = "127.0.0.1";  // tcp: the address roles bind to
  std::string hosts;                 // see cluster/hosts.h; empty: this one
  std::uint16_t port = 0;            // tcp: the chief's; 0: any free one
  bool insecure = false;             // allow other addresses than loopback
  Duration heartbeat = std::chrono::milliseconds(500);
  Duration member_timeout = std::chrono::seconds(10);  // silence after which a role is dead
  Duration deadline = std::chrono::seconds(60);        // a role that hangs for so long is ended
  Duration start_timeout = std::chrono::seconds(30);   // until all roles have registered
  Duration spin = std::chrono::microseconds(100);      // polling before a wait blocks

  // What remains.
  std::filesystem::path run_dir;
  std::filesystem::path resume;        // run directory to go on from
  std::filesystem::path init;          // run directory whose weights this one starts with
  std::uint64_t checkpoint_every = 1;  // epochs; 0: only at the end
  std::uint64_t keep_checkpoints = 3;
  std::uint64_t memory_limit = 0;  // bytes for all roles on this host; 0: what is free
  std::string log_level = "info";
};

// Whether workers and servers exchange rows of a table by key, as they do of sparse data.
bool exchanges_rows(const RunConfig& config);
// Whether threads of one process learn sparse rows, with a table that only they touch.
bool trains_rows(const RunConfig& config);
// What that means for reading ahead, and for the staleness that servers allow (exchange/options.h).
bool reads_ahead(const RunConfig& config);
std::uint64_t server_staleness(const RunConfig& config);
// Processes that keep parameters. With all-reduce, the first worker stands in for one.
std::uint32_t server_count(const RunConfig& config);

}  // namespace paceline

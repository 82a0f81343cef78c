#include <string>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/resolve.h"
#include "cli/settings.h"

namespace paceline {
namespace {

using Flags = std::map<std::string, std::string>;

// Refuses flags that would do nothing, e.g. --staleness without --mode ssp.
void refuse_idle(const Flags& flags, bool used, std::initializer_list<const char*> keys,
                 const char* unless) {
  if (used) return;
  for (const char* key : keys) {
    if (flags.contains(key)) throw ConfigError("--{} has no effect without {}", key, unless);
  }
}

void check_idle_flags(const RunConfig& c, const Flags& flags) {
  const auto optimizer = c.optimizer.kind;
  const auto schedule = c.schedule.kind;
  refuse_idle(flags, c.mode == Mode::kSsp, {"staleness"}, "--mode ssp");
  refuse_idle(flags, c.mode != Mode::kSync, {"lease-block", "worker-eval"},
              "--mode async or --mode ssp");
  refuse_idle(flags, c.exchange == ExchangeKind::kPs, {"servers", "transport", "listen", "port"},
              "--exchange ps");
  refuse_idle(flags, c.transport == Transport::kTcp, {"listen", "port", "insecure"},
              "--transport tcp");
  refuse_idle(flags, c.reduction == Reduction::kSum, {"sum-factor"}, "--reduction sum");
  refuse_idle(flags, c.order.kind == OrderKind::kBlocks, {"order-block", "order-window"},
              "--order blocks");
  refuse_idle(flags, c.loader.depth > 0, {"loader-threads"}, "--loader-depth");
  refuse_idle(flags, optimizer == OptimizerKind::kMomentum, {"momentum"}, "--optimizer momentum");
  refuse_idle(flags, optimizer == OptimizerKind::kAdam, {"beta1", "beta2"}, "--optimizer adam");
  refuse_idle(flags, optimizer == OptimizerKind::kAdam || optimizer == OptimizerKind::kAdagrad,
              {"epsilon"}, "--optimizer adagrad or --optimizer adam");
  refuse_idle(flags, schedule == ScheduleKind::kStep, {"step-epochs", "step-factor"},
              "--schedule step");
  refuse_idle(flags, schedule == ScheduleKind::kCosine, {"final-rate"}, "--schedule cosine");
  refuse_idle(flags, c.data.name == "idx", {"data-classes"}, "--data idx");
  refuse_idle(flags, c.data.name == "synthetic",
              {"synthetic-examples", "synthetic-test-examples", "synthetic-width",
               "synthetic-classes", "synthetic-seed"},
              "--data synthetic");
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

void check_exchange(const RunConfig& c) {
  if (c.deterministic && c.mode != Mode::kSync) {
    throw ConfigError(
        "--deterministic needs --mode sync: the order of asynchronous updates is "
        "not fixed");
  }
  if (c.exchange == ExchangeKind::kLocal && c.mode == Mode::kSsp) {
    throw ConfigError(
        "--exchange local has the modes sync and async; --mode ssp needs "
        "--exchange ps");
  }
  if (c.transport == Transport::kTcp && !is_loopback(c.listen) && !c.insecure) {
    throw ConfigError(
        "--listen {} can be reached from other hosts and the connections are not "
        "encrypted: use a loopback address, or add --insecure in a network you trust",
        c.listen);
  }
}

void check_data(const RunConfig& c) {
  if (c.data.name == "idx" && c.data.dir.empty()) {
    throw ConfigError("--data idx needs --data-dir, the folder with the four IDX files");
  }
}

void check_learning(const RunConfig& c) {
  if (c.tile > c.batch) {
    throw ConfigError("--tile {} is larger than --batch {}: a tile is a part of a step", c.tile,
                      c.batch);
  }
  if (c.schedule.final_rate > c.schedule.rate && c.schedule.kind == ScheduleKind::kCosine) {
    throw ConfigError("--final-rate {} is larger than --rate {}", c.schedule.final_rate,
                      c.schedule.rate);
  }
  if (c.schedule.warmup_epochs > static_cast<double>(c.epochs)) {
    throw ConfigError("--warmup-epochs {} is longer than the run (--epochs {})",
                      c.schedule.warmup_epochs, c.epochs);
  }
}

void check_times(const RunConfig& c) {
  if (c.member_timeout < 2 * c.heartbeat) {
    throw ConfigError(
        "--member-timeout {} must be at least twice --heartbeat {}: otherwise one "
        "late heartbeat kills a role",
        format_exact_duration(c.member_timeout), format_exact_duration(c.heartbeat));
  }
}

}  // namespace

void validate(const RunConfig& config, const Flags& flags) {
  check_data(config);
  check_learning(config);
  check_exchange(config);
  check_times(config);
  check_idle_flags(config, flags);
}

}  // namespace paceline

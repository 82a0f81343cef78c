#include <string>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/hosts.h"
#include "config/resolve.h"
#include "config/settings.h"
#include "data/catalogue/registry.h"
#include "model/catalogue/registry.h"

namespace paceline {
namespace {

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

void check_exchange(const RunConfig& c) {
  if (c.deterministic && c.mode != Mode::kSync) {
    throw ConfigError(
        "--deterministic needs --mode sync: the order of asynchronous updates is "
        "not fixed");
  }
  if (c.deterministic && c.wire != WireFormat::kFloat) {
    throw ConfigError("--deterministic needs --wire float: 16 bits are rounded share by share");
  }
  if (c.exchange == ExchangeKind::kAllReduce && (c.mode != Mode::kSync || c.deterministic)) {
    throw ConfigError("--exchange allreduce has --mode sync alone, without --deterministic");
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

void check_hosts(const RunConfig& c) {
  const std::vector<Host> hosts = parse_hosts(c.hosts);
  if (c.transport != Transport::kTcp) return;  // they have no effect
  for (const Host& host : hosts) {
    if (!is_loopback(host.address) && !c.insecure) {
      throw ConfigError(
          "connections to the host {} are not encrypted: add --insecure in a network you trust",
          host.address);
    }
  }
}

void check_data(const RunConfig& c, Purpose purpose) {
  const DatasetKind& kind = dataset_kind(c.data.name);
  if (kind.origin == Origin::kOwnFolder && c.data.dir.empty()) {
    throw ConfigError("--data {} needs --data-dir, {}", kind.name, kind.files);
  }
  const bool may_lack_files = is_rows(c.data) && purpose == Purpose::kEstimate;
  if (kind.origin == Origin::kOwnFiles && c.data.text.file.empty() && !may_lack_files) {
    throw ConfigError("--data {} needs --data-file, {}", kind.name, kind.files);
  }
  if (is_rows(c.data) && c.data.text.test_share == 0 && c.data.text.test_file.empty()) {
    throw ConfigError("--test-share 0 leaves nothing to test on: name a --test-file");
  }
  if (c.model.name == "logistic" && c.data.rows.format.target == RowTarget::kNumber) {
    throw ConfigError("--labels numbers is for --model regression: logistic learns two classes");
  }
}

// Threads that learn row by row have no step whose gradient could be looked at.
void check_rows(const RunConfig& c) {
  if (!trains_rows(c) && !exchanges_rows(c)) return;
  const auto refuse = [](const std::string& what) {
    throw ConfigError(
        "{} has no meaning when threads learn sparse rows one by one: leave it out, or "
        "choose --mode sync",
        what);
  };
  const OptimizerKind kind = c.optimizer.kind;
  if (kind != OptimizerKind::kSgd && kind != OptimizerKind::kAdagrad &&
      kind != OptimizerKind::kFtrl) {
    throw ConfigError("sparse rows are learned with --optimizer ftrl, adagrad or sgd, not {}",
                      name_of(kind));
  }
  if (!c.groups.empty() || !c.init.empty()) {
    throw ConfigError(
        "{} has no meaning for sparse rows: there is one tensor, which starts from zero",
        c.init.empty() ? "[[group]]" : "--init");
  }
  if (exchanges_rows(c) || c.mode == Mode::kSync) return;
  if (c.clip > 0) refuse("--clip");
  if (c.nonfinite == Nonfinite::kSkip) refuse("--nonfinite skip");
  if (c.nonfinite == Nonfinite::kIgnore) refuse("--nonfinite ignore");
}

void check_frozen(const RunConfig& c) {
  if (c.model.train != TrainedPart::kTop) return;
  if (c.init.empty()) {
    throw ConfigError(
        "--train top needs --init RUN, a run whose features are used: without it they would be "
        "random");
  }
  if (c.data.images.augment) {
    throw ConfigError(
        "--augment changes the images in every epoch, and --train top computes their features "
        "once: leave one of them out");
  }
}

void check_learning(const RunConfig& c) {
  if (c.tile > c.batch) {
    throw ConfigError("--tile {} is larger than --batch {}: a tile is a part of a step", c.tile,
                      c.batch);
  }
  const bool constant = c.schedule.kind == ScheduleKind::kConstant && c.schedule.warmup_epochs == 0;
  if (c.optimizer.kind == OptimizerKind::kFtrl && !constant) {
    throw ConfigError(
        "--optimizer ftrl lowers the rate of each weight by itself, and weights follow from the "
        "rate: use --schedule constant and no --warmup-epochs");
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
  if (c.member_timeout < 4 * c.heartbeat) {
    throw ConfigError(
        "--member-timeout {} must be at least four times --heartbeat {}: otherwise a "
        "late heartbeat kills a role",
        format_exact_duration(c.member_timeout), format_exact_duration(c.heartbeat));
  }
}

}  // namespace

void validate(const RunConfig& config, Purpose purpose) {
  check_model_name(config.model.name);
  check_data(config, purpose);
  check_learning(config);
  check_rows(config);
  check_frozen(config);
  check_exchange(config);
  check_hosts(config);
  check_times(config);
}

}  // namespace paceline

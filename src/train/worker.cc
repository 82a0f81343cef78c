#include <csignal>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/signals.h"
#include "data/catalogue/open.h"
#include "exchange/ps/client.h"
#include "exchange/ps/row_client.h"
#include "infer/test.h"
#include "session/heartbeat.h"
#include "session/member.h"
#include "session/message.h"
#include "train/heartbeat.h"
#include "train/loop.h"
#include "train/placement.h"
#include "train/role.h"
#include "train/workload.h"

namespace paceline {
namespace {

class WorkerRole {
 public:
  explicit WorkerRole(const RoleContext& role)
      : role_(role),
        workload_(make_workload(role)),
        dataset_(open_training(role.config)),
        loop_(pumped() ? Duration::zero() : role.config.spin),
        member_(line_options(role, "worker"),
                {[this](wire::Type type, std::string_view meta) { return told(type, meta); },
                 [this] { return beat(); }, [this](const CommError& gone) { abort(gone); }}) {
    counts_.activity.adopt();
    if (!evaluates()) return;
    counts_.activity.begin(Activity::Kind::kBusy, "opening its test data");
    spdlog::info("opens its test data");
    auto tests = open_dataset(role.config.data, Split::kTest);
    const std::lock_guard lock(mutex_);  // heartbeats tell of it
    tests_ = std::move(tests);
    unreadable_tests_.emplace(*tests_);
    counts_.activity.begin(Activity::Kind::kIdle, "");
  }

  void run() {
    WorkerLife life;
    life.train = [this](const wire::Begin& begin) {
      train(begin);
      quiet_ = true;
    };
    life.abort = [this](const Error& reason) { abort(reason); };
    work_for_chief(member_, life);
  }

 private:
  // Of a table nobody has a view of his own.
  bool evaluates() const {
    const RunConfig& config = role_.config;
    return config.mode != Mode::kSync && config.worker_eval && !exchanges_rows(config);
  }
  // In sync mode rows come when everybody has computed, and not before.
  bool pumped() const {
    if (!exchanges_rows(role_.config)) return wants_pump(workload_.chunks);
    return role_.config.mode != Mode::kSync;
  }

  // On the member's thread. Assignments and leases go straight to the exchange once it is there.
  bool told(wire::Type type, std::string_view meta) {
    const bool for_exchange = type == wire::ASSIGNMENT || type == wire::PREPARE ||
                              type == wire::LEASE || type == wire::STOP;
    const std::lock_guard lock(mutex_);
    if (type == wire::GOODBYE && client_) client_->dismiss();
    // At the end of the run each tests what it holds.
    if (type == wire::STOP && parsed<wire::Stop>(meta).early()) stopped_ = true;
    if (!for_exchange) return false;
    if (client_) {
      client_->told(type, meta);
    } else {
      early_.push_back({type, std::string(meta)});
    }
    return true;
  }

  wire::Heartbeat beat() {
    const std::lock_guard lock(mutex_);
    wire::Heartbeat beat = figures(client_ ? client_->counters() : LinkCounters());
    add_figures(counts_, beat);
    unreadable_.tell(*beat.mutable_unreadable());
    if (unreadable_tests_) unreadable_tests_->tell(*beat.mutable_unreadable_tests());
    beat.set_quiet(quiet_);
    if (client_) {
      if (const Activity* pump = client_->look_at_pump()) add_activity(*pump, beat);
      beat.set_rows(client_->rows());
      beat.set_training_cpu_seconds(beat.cpu_seconds() - cpu_before_);
      const PsExchange::Wait wait = client_->waiting();
      beat.set_waiting(wait.what);
      beat.set_waiting_seconds(wait.seconds);
    }
    return beat;
  }

  void abort(const Error& reason) {
    const std::lock_guard lock(mutex_);
    if (client_) return client_->abort(reason);
    if (!aborted_) aborted_ = reason;
    loop_.stop();  // it may wait for a server to accept its connection
  }

  void train(const wire::Begin& begin) {
    spdlog::info("begins at version {}, with {} server(s)", begin.version(), begin.servers_size());
    counts_.activity.begin(Activity::Kind::kWaiting,
                           "waiting for the servers to accept its connection");
    connect(begin);
    cpu_before_ = usage_of_this_process().cpu_seconds;
    LoopInput input{
        *dataset_,           workload_.order,           workload_.grid, *workload_.model, *client_,
        role_.config.loader, role_.config.deterministic};
    std::uint64_t epoch = workload_.grid.epoch_of(begin.version());
    run_worker_loop(input, counts_, [&](const Share& share) {
      const std::uint64_t now = workload_.grid.epoch_of(share.step);
      if (tests_ && now > epoch) test_own_view(now - 1);
      epoch = std::max(epoch, now);
    });
    counts_.activity.begin(Activity::Kind::kWaiting, "waiting for servers to acknowledge step");
    client_->drain();
    spdlog::info("ends after {} shares, {} examples", counts_.shares.load(),
                 counts_.examples.load());
    if (tests_ && counts_.shares > 0 && !stopped_) test_own_view(epoch);
    counts_.activity.begin(Activity::Kind::kIdle, "");
  }

  void connect(const wire::Begin& begin) {
    const PsAddress address = ps_address(
        role_, "worker", {begin.servers().begin(), begin.servers().end()}, member_.incarnation());
    PsClientOptions options;
    options.core.mode = role_.config.mode;
    options.core.grid = workload_.grid;
    options.core.chunks = workload_.chunks.chunks();
    options.core.incarnation = member_.incarnation();
    options.core.version = begin.version();
    options.core.last_version = workload_.last_version;
    options.core.report_every = std::max<std::uint64_t>(1, role_.config.lease_block / 2);
    options.rules = workload_.rules;
    options.wire = role_.config.wire;
    options.deadline = role_.config.deadline;
    options.name = role_.name;
    options.pumped = pumped();
    options.whole_tables = role_.config.transfer == Transfer::kDense;
    std::unique_ptr<PsExchange> client;
    try {
      client = make_client(options, address);
    } catch (const CommError&) {
      const std::lock_guard lock(mutex_);
      if (aborted_) throw Error(*aborted_);
      throw;
    }
    if (role_.config.mode == Mode::kSync)
      client->told(wire::ASSIGNMENT, begin.assignment().SerializeAsString());
    const std::lock_guard lock(mutex_);
    client_ = std::move(client);
    for (const ChiefWord& early : std::exchange(early_, {})) client_->told(early.type, early.meta);
    if (aborted_) client_->abort(*aborted_);
  }

  std::unique_ptr<PsExchange> make_client(PsClientOptions& options, const PsAddress& address) {
    const auto tell = [this](ChiefWord message) { member_.tell(std::move(message)); };
    if (!exchanges_rows(role_.config)) {
      return std::make_unique<PsClient>(loop_, workload_.chunks, options, address, tell);
    }
    options.core.rows = true;
    return std::make_unique<RowClient>(loop_, deal_rows(workload_),
                                       RowClientOptions{options, reads_ahead(role_.config)},
                                       address, tell);
  }

  // Async: workers see different parameters; each tests what it holds. Whoever asks the run to stop
  // is not kept waiting for that.
  void test_own_view(std::uint64_t epoch) {
    const Pump::Hold hold = client_->hold();
    counts_.activity.begin(Activity::Kind::kBusy, "testing its own parameters at step");
    Metrics tested;
    try {
      tested = test_model(role_.config.model, *workload_.model, *tests_, client_->parameters(),
                          &counts_.activity, &stopped_);
    } catch (const Interrupted&) {
      return;
    }
    wire::WorkerEpoch message;
    message.set_epoch(epoch);
    message.set_loss(tested.loss.mean());
    if (tested.accuracy) message.set_accuracy(*tested.accuracy);
    if (tested.rmse) message.set_rmse(*tested.rmse);
    member_.tell(wire::WORKER_EPOCH, message);
  }

  RoleContext role_;
  Workload workload_;
  std::unique_ptr<Dataset> dataset_;
  UnreadableFiles unreadable_{*dataset_};
  std::unique_ptr<Dataset> tests_;
  std::optional<UnreadableFiles> unreadable_tests_;
  LoopCounts counts_{role_.config.loader};
  std::atomic<bool> quiet_ = false;
  std::atomic<bool> stopped_ = false;   // before the run's end
  std::atomic<double> cpu_before_ = 0;  // it began to train
  Loop loop_;
  std::mutex mutex_;  // guards what the member's thread touches
  std::unique_ptr<PsExchange> client_;
  std::optional<Error> aborted_;  // before there was a client
  std::vector<ChiefWord> early_;
  Member member_;
};

}  // namespace

void run_worker(const RoleContext& role) {
  block_signals({SIGTERM});
  WorkerRole(take_worker_place(role)).run();
}

}  // namespace paceline

// A worker of an all-reduce run.
#include <csignal>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "data/catalogue/open.h"
#include "exchange/allreduce/allreduce.h"
#include "exchange/allreduce/factors.h"
#include "session/failure.h"
#include "session/heartbeat.h"
#include "session/member.h"
#include "session/message.h"
#include "train/heartbeat.h"
#include "train/keeper.h"
#include "train/loop.h"
#include "train/role.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {
namespace {

CommError stopped_run() {
  return CommError("the run is stopped");
}

class RingWorkerRole final : private RingNotes {
 public:
  explicit RingWorkerRole(const RoleContext& role)
      : role_(role),
        workload_(make_workload(role)),
        dataset_(open_training(role.config)),
        member_(line_options(role, "worker"),
                {[this](wire::Type type, std::string_view meta) { return told(type, meta); },
                 [this] { return beat(); }, [this](const CommError& gone) { abort(gone); }}) {
    if (member_.rank() == 0) {
      start_keeper(std::make_unique<Keeper>(role, workload_, [this] { abort(stopped_run()); }));
    }
  }

  void run() {
    WorkerLife life;
    life.train = [this](const wire::Begin& begin) {
      train(begin);
      quiet_ = true;
    };
    life.abort = [this](const Error& reason) { abort(reason); };
    life.afterwards = [this](const ChiefWord& word) {
      if (word.type == wire::KEEP) keep();
    };
    life.stays = true;  // all of a ring hold what was learned
    work_for_chief(member_, life);
    const std::lock_guard lock(mutex_);
    if (failure_) throw CommError(*failure_, "the run has failed");
  }

 private:
  // On the member's thread.
  bool told(wire::Type type, std::string_view meta) {
    if (type == wire::NOTE) {
      const auto note = parsed<wire::Note>(meta);
      const std::lock_guard lock(mutex_);
      notes_[note.key()] = note.value();
      changed_.notify_all();
      return true;
    }
    if (type != wire::STOP) return false;
    const auto stop = parsed<wire::Stop>(meta);
    {
      const std::lock_guard lock(mutex_);
      failure_.reset();  // of a run that was stopped and ends well after all
      if (stop.has_failure()) failure_ = error_of(stop.failure());
    }
    abort(stopped_run());
    return true;
  }

  wire::Heartbeat beat() {
    wire::Heartbeat beat;
    {
      const std::lock_guard lock(mutex_);
      if (exchange_) carried_ = exchange_->counters();
      beat = figures(carried_);
      if (ring_) beat.set_moved(ring_->moved());
      if (exchange_) {
        for (const Activity& carrying : exchange_->activities()) add_activity(carrying, beat);
      }
    }
    add_figures(counts_, beat);
    unreadable_.tell(*beat.mutable_unreadable());
    beat.set_quiet(quiet_);
    return beat;
  }

  void abort(const Error& reason) {
    const std::lock_guard lock(mutex_);
    if (!aborted_) aborted_ = reason;
    changed_.notify_all();
    if (keeper_) keeper_->abandon();
    if (exchange_) return exchange_->abort(reason);
    if (ring_) ring_->close();
  }

  void start_keeper(std::unique_ptr<Keeper> keeper) {
    const std::lock_guard lock(mutex_);
    keeper_ = std::move(keeper);
    if (aborted_) keeper_->abandon();
  }

  void leave(const std::string& key, const std::string& note) override {
    wire::Note message;
    message.set_key(key);
    message.set_value(note);
    member_.tell(wire::NOTE, message);
    const std::lock_guard lock(mutex_);
    notes_[key] = note;
  }
  std::string find(const std::string& key) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return notes_.contains(key) || aborted_; });
    if (!notes_.contains(key)) throw Error(*aborted_);
    return notes_[key];
  }

  // The ring that abort() ends and that heartbeats look at, while this lives.
  class KnownRing {
   public:
    KnownRing(RingWorkerRole& role, Ring& ring) : role_(role) {
      const std::lock_guard lock(role_.mutex_);
      role_.ring_ = &ring;
      if (role_.aborted_) ring.close();
    }
    ~KnownRing() {
      const std::lock_guard lock(role_.mutex_);
      role_.ring_ = nullptr;
    }
    KnownRing(const KnownRing&) = delete;
    KnownRing& operator=(const KnownRing&) = delete;

   private:
    RingWorkerRole& role_;
  };

  void train(const wire::Begin& begin) {
    AllReduceOptions options;
    options.grid = workload_.grid;
    options.assignment.epoch = begin.assignment().epoch();
    options.assignment.start = begin.assignment().start();
    RingOptions ring_options;
    for (const auto& entry : begin.assignment().entries()) {
      if (entry.worker() == member_.incarnation()) {
        ring_options.rank = static_cast<std::uint32_t>(options.assignment.entries.size());
      }
      options.assignment.entries.push_back({entry.worker(), entry.weight()});
    }
    options.incarnation = member_.incarnation();
    options.rules = workload_.rules;
    options.optimizer = role_.config.optimizer;
    options.groups = workload_.groups;
    options.version = begin.version();
    options.last_version = workload_.last_version;
    options.factored = choose_factored(workload_.model->matrices(), workload_.grid.batch,
                                       options.assignment.entries.size(), role_.config.factors);
    options.multiply = [this](const Matrix& matrix, const Factors& factors,
                              std::span<float> gradient) {
      workload_.model->multiply(matrix, factors, gradient);
    };
    ring_options.size = static_cast<std::uint32_t>(options.assignment.entries.size());
    ring_options.host = role_.config.listen;
    ring_options.name = role_.name;
    ring_options.wire = role_.config.wire;
    spdlog::info("begins at version {}, rank {} of a ring of {}", begin.version(),
                 ring_options.rank, ring_options.size);
    try {
      train_in(ring_options, options);
    } catch (const Error& error) {
      if (error.code() != ExitCode::kCommunication) throw;
      // The ring knows that somebody is gone; who it is, the chief will say.
      std::unique_lock lock(mutex_);
      const Duration patience = 2 * role_.config.member_timeout;
      if (!changed_.wait_for(lock, patience, [this] { return aborted_.has_value(); })) throw;
    }
    spdlog::info("ends after {} shares, {} examples", counts_.shares.load(),
                 counts_.examples.load());
  }

  void train_in(const RingOptions& ring_options, const AllReduceOptions& options) {
    counts_.activity.adopt();
    counts_.activity.begin(Activity::Kind::kWaiting, "waiting for the other workers to connect");
    Ring ring(ring_options);
    const KnownRing known(*this, ring);
    try {
      ring.connect(*this);
    } catch (...) {  // the chief has what the run starts from
      if (keeper_) keeper_->stopped(options.version, std::make_shared<PinnedVersion>());
      throw;
    }
    counts_.activity.begin(Activity::Kind::kBusy, "loading the parameters");
    Buffer values = Buffer::floats(workload_.chunks.floats());
    Buffer state = Buffer::floats(workload_.chunks.floats() * Optimizer(options.optimizer).slots());
    load_parameters(role_, *workload_.model, values.as_floats(), state.as_floats(),
                    &counts_.activity);
    open_exchange(options, ring, std::move(values), std::move(state));
    try {
      run_worker_loop({*dataset_, workload_.order, workload_.grid, *workload_.model, *exchange_,
                       role_.config.loader, false},
                      counts_);
    } catch (...) {
      close_exchange();  // before the ring goes
      counts_.activity.begin(Activity::Kind::kIdle, "");
      throw;
    }
    close_exchange();
  }

  void open_exchange(const AllReduceOptions& options, Ring& ring, Buffer values, Buffer state) {
    const std::lock_guard lock(mutex_);
    exchange_ = std::make_unique<AllReduce>(
        options, workload_.schedule, ring, std::move(values), std::move(state),
        [this](std::uint64_t version, const Loss& loss, bool skipped) {
          add_to_epoch(version, loss, skipped);
          if (keeper_) {
            keeper_->step_done(version, loss, skipped, exchange_->parameters(), exchange_->state());
          }
        });
    if (aborted_) exchange_->abort(*aborted_);
  }

  // What it has reached is kept for the last test and the last checkpoint.
  void close_exchange() {
    if (!exchange_) return;
    exchange_->halt();
    const std::lock_guard lock(mutex_);
    carried_ = exchange_->counters();
    held_version_ = exchange_->version();
    auto [values, state] = exchange_->take();
    held_ = std::make_shared<PinnedVersion>(PinnedVersion{std::move(values), std::move(state)});
    exchange_.reset();
    if (keeper_) keeper_->stopped(held_version_, held_, epoch_);
  }

  // All of a ring know the sums of a step. Whoever takes the keeper's place tells those of the
  // epoch.
  void add_to_epoch(std::uint64_t version, const Loss& loss, bool skipped) {
    if ((version - 1) % workload_.grid.steps_per_epoch() == 0) epoch_.Clear();
    add_step(epoch_, version, loss, skipped);
  }

  // In the place of a worker that is gone.
  void keep() {
    if (!held_) throw CommError("{} holds nothing that could be kept", role_.name);
    spdlog::info("keeps version {} for the evaluator and the checkpoint", held_version_);
    start_keeper(std::make_unique<Keeper>(role_, workload_, [] {}));
    keeper_->stopped(held_version_, held_, epoch_);
  }

  RoleContext role_;
  Workload workload_;
  std::unique_ptr<Dataset> dataset_;
  UnreadableFiles unreadable_{*dataset_};
  LoopCounts counts_{role_.config.loader};
  std::atomic<bool> quiet_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::string, std::string> notes_;
  std::optional<Error> aborted_;  // and why
  std::optional<Error> failure_;  // of the run, as the chief says it
  Ring* ring_ = nullptr;          // while there is one
  std::unique_ptr<AllReduce> exchange_;
  LinkCounters carried_;                       // over the ring
  std::shared_ptr<const PinnedVersion> held_;  // when training is over
  std::uint64_t held_version_ = 0;
  wire::Complete epoch_;  // sums of its steps so far
  Member member_;
  std::unique_ptr<Keeper> keeper_;
};

}  // namespace

void run_ring_worker(const RoleContext& role) {
  block_signals({SIGTERM});
  RingWorkerRole(take_worker_place(role)).run();
}

}  // namespace paceline

// A run whose workers are threads of this process.
#include <csignal>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/threads.h"
#include "checkpoint/checkpoint.h"
#include "data/catalogue/open.h"
#include "exchange/local/local_exchange.h"
#include "infer/test.h"
#include "train/local_report.h"
#include "train/loop.h"
#include "train/placement.h"
#include "train/run.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {
namespace {

class LocalDenseRun {
 public:
  LocalDenseRun(const RunSpec& spec, Reporter& reporter)
      : spec_(spec),
        config_(with_threads(spec.config)),
        workload_(make_workload(config_, spec.data)),
        train_(open_training(config_)),
        test_(open_dataset(config_.data, Split::kTest)),
        report_(spec, workload_.grid, reporter),
        hub_(hub_options(), workload_.schedule, workload_.chunks.floats(),
             [this](std::uint64_t version, const Loss& loss) { epoch_done(version, loss); }) {
    load_parameters(spec_, *workload_.model, hub_.values(), hub_.state());
  }

  void run() {
    const StopSignals signals(
        {SIGINT, SIGTERM, SIGHUP},
        [this] {
          interrupted_ = true;
          report_.interrupt();
          hub_.stop();
        },
        [this] { return report_.interrupt(); });
    report_.begun(examples_done());
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (std::uint32_t rank = 0; rank < config_.workers; ++rank) {
      exchanges.push_back(hub_.worker(rank));
    }
    std::vector<LoopCounts> counts(config_.workers);
    std::vector<double> finished(config_.workers);
    Threads threads;
    threads.start(config_.workers, [&](std::size_t rank) {
      take_place(config_, place_worker(config_, "worker" + std::to_string(rank)));
      work(*exchanges[rank], counts[rank]);
      finished[rank] = report_.record().elapsed();
    });
    while (threads.running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      show();
    }
    threads.join();
    show();
    finish(counts, finished);
  }

 private:
  LocalOptions hub_options() {
    LocalOptions options;
    options.mode = config_.mode;
    options.grid = workload_.grid;
    options.rules = workload_.rules;
    options.workers = static_cast<std::uint32_t>(config_.workers);
    options.optimizer = config_.optimizer;
    options.groups = workload_.groups;
    options.deterministic = config_.deterministic;
    options.last_version = workload_.last_version;
    options.spin = config_.spin;
    if (const auto checkpoint = open_checkpoint(spec_)) {
      options.version = checkpoint->info().version;
      report_.record().resumed(spec_.checkpoint, options.version);
      options.applied = checkpoint->info().applied;
    }
    return options;
  }

  void work(Exchange& exchange, LoopCounts& counts) {
    try {
      const auto model = make_model(config_, workload_.data);
      run_worker_loop({*train_, workload_.order, workload_.grid, *model, exchange, config_.loader,
                       config_.deterministic},
                      counts);
    } catch (...) {
      hub_.fail(std::current_exception());
    }
  }

  std::uint64_t examples_done() const {
    std::uint64_t examples = 0;
    for (const Range& range : hub_.applied()) {
      examples +=
          workload_.grid.examples_before(range.end) - workload_.grid.examples_before(range.begin);
    }
    return examples;
  }

  void show() { report_.show(workload_.grid.examples_before(hub_.version()), hub_.epoch_loss()); }

  // The parameters stand still: called by the worker that ended the epoch.
  void epoch_done(std::uint64_t version, const Loss& loss) {
    report_.trained(version, loss, hub_.skipped() - std::exchange(skipped_told_, hub_.skipped()));
    const Metrics tested = test_model(config_.model, *workload_.model, *test_, hub_.values());
    if (report_.tested(version, loss, tested)) save(version, {});
  }

  void save(std::uint64_t version, std::vector<Range> applied) {
    expect_finite(config_, version, hub_.values());
    CheckpointInfo info = checkpoint_info(spec_, workload_, version);
    info.applied = std::move(applied);
    if (!info.applied.empty()) info.examples = examples_done();
    report_.save([&] { write(info); });
    prune_checkpoints(config_.run_dir, config_.keep_checkpoints);
  }

  void write(const CheckpointInfo& info) {
    write_checkpoint(checkpoint_path(config_.run_dir, info.version), info,
                     [this](std::uint64_t vector, Range floats, std::span<float> out) {
                       const std::span<float> from =
                           vector == 0
                               ? hub_.values()
                               : hub_.state().subspan((vector - 1) * workload_.chunks.floats(),
                                                      workload_.chunks.floats());
                       std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(floats.begin),
                                   floats.size(), out.begin());
                     });
  }

  void finish(const std::vector<LoopCounts>& counts, const std::vector<double>& finished) {
    std::optional<Error> error;
    try {
      hub_.rethrow_failure();
    } catch (const std::exception&) {
      error = current_error();
    }
    const std::uint64_t version = hub_.version();
    const bool complete = version == workload_.last_version;
    if (!error && !std::filesystem::exists(checkpoint_path(config_.run_dir, version))) {
      std::vector<Range> applied = hub_.applied();
      if (applied == std::vector<Range>{{0, version}}) applied.clear();
      save(version, std::move(applied));
    }
    if (interrupted_ && !error && !complete) error = Interrupted("interrupted");
    report_.record().add_unreadable(Split::kTrain, train_->unreadable());
    report_.record().add_unreadable(Split::kTest, test_->unreadable());
    report_.summary(examples_done(), worker_entries(counts, finished), error);
    hub_.rethrow_failure();
    if (error) throw Interrupted(error->what());
  }

  RunSpec spec_;
  RunConfig config_;
  Workload workload_;
  std::unique_ptr<Dataset> train_;
  std::unique_ptr<Dataset> test_;
  LocalReport report_;
  LocalHub hub_;
  std::uint64_t skipped_told_ = 0;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

void train_with_threads(const RunSpec& spec, Reporter& reporter) {
  start_logging("local", spec.config.run_dir / "logs" / "local.log", spec.config.log_level);
  LocalDenseRun(spec, reporter).run();
}

}  // namespace paceline

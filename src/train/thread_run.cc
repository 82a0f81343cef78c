// A run whose workers are threads of this process.
#include <csignal>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/signals.h"
#include "checkpoint/checkpoint.h"
#include "data/open.h"
#include "exchange/local/local_exchange.h"
#include "train/journal.h"
#include "train/loop.h"
#include "train/parts.h"
#include "train/placement.h"
#include "train/run.h"
#include "train/start.h"

namespace paceline {
namespace {

class ThreadRun {
 public:
  ThreadRun(const RunConfig& config, Reporter& reporter)
      : config_(with_threads(config)),
        reporter_(reporter),
        parts_(make_parts(config_)),
        train_(open_training(config_)),
        test_(open_dataset(config.data, Split::kTest)),
        journal_(config, parts_.grid, -1),
        hub_(hub_options(), parts_.schedule, parts_.chunks.floats(),
             [this](std::uint64_t version, const Loss& loss) { epoch_done(version, loss); }) {
    load();
  }

  void run() {
    const SignalWatcher signals({SIGINT, SIGTERM, SIGHUP}, [this](int) {
      interrupted_ = true;
      hub_.stop();
    });
    examples_at_start_ = examples_done();
    journal_.begun(examples_at_start_);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    for (std::uint32_t rank = 0; rank < config_.workers; ++rank) {
      exchanges.push_back(hub_.worker(rank));
    }
    std::vector<LoopCounts> counts(config_.workers);
    std::vector<double> finished(config_.workers);
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> running = config_.workers;
    for (std::uint32_t rank = 0; rank < config_.workers; ++rank) {
      threads.emplace_back([&, rank] {
        take_place(config_, place_worker(config_, "worker" + std::to_string(rank)));
        work(*exchanges[rank], counts[rank]);
        finished[rank] = journal_.elapsed();
        --running;
      });
    }
    while (running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      show_epochs();
      show_progress();
    }
    for (std::thread& thread : threads) thread.join();
    show_epochs();
    finish(counts, finished);
  }

 private:
  LocalOptions hub_options() {
    LocalOptions options;
    options.mode = config_.mode;
    options.grid = parts_.grid;
    options.rules = parts_.rules;
    options.workers = static_cast<std::uint32_t>(config_.workers);
    options.optimizer = config_.optimizer;
    options.groups = parts_.groups;
    options.deterministic = config_.deterministic;
    options.last_version = parts_.last_version;
    options.spin = config_.spin;
    if (!config_.resume.empty()) {
      const std::filesystem::path checkpoint = find_checkpoint(config_.resume);
      reader_ = std::make_unique<CheckpointReader>(checkpoint);
      options.version = reader_->info().version;
      journal_.resumed(checkpoint, options.version);
      options.applied = reader_->info().applied;
    }
    return options;
  }

  void load() {
    if (!reader_) return load_start(config_, *parts_.model, hub_.values());
    const Range all{0, parts_.chunks.floats()};
    reader_->read(0, all, hub_.values());
    if (reader_->info().optimizer != name_of(config_.optimizer.kind)) return;
    for (std::uint64_t slot = 0; slot < hub_.state().size() / all.size(); ++slot) {
      reader_->read(1 + slot, all, hub_.state().subspan(slot * all.size(), all.size()));
    }
  }

  void work(Exchange& exchange, LoopCounts& counts) {
    try {
      const auto model = make_model(config_, parts_.data);
      run_worker_loop({*train_, parts_.order, parts_.grid, *model, exchange, config_.loader,
                       config_.deterministic},
                      counts);
    } catch (...) {
      hub_.fail(std::current_exception());
    }
  }

  std::uint64_t examples_done() const {
    std::uint64_t examples = 0;
    for (const Range& range : hub_.applied()) {
      examples += parts_.grid.examples_before(range.end) - parts_.grid.examples_before(range.begin);
    }
    return examples;
  }

  void show_progress() {
    const Loss loss = hub_.epoch_loss();
    const std::uint64_t done = parts_.grid.examples_before(hub_.version());
    const double elapsed = journal_.elapsed();
    const std::uint64_t total = parts_.grid.examples * config_.epochs;
    const double rate =
        elapsed > 0 ? static_cast<double>(done - std::min(done, examples_at_start_)) / elapsed : 0;
    const Duration eta =
        rate > 0 ? from_seconds(static_cast<double>(total - done) / rate) : Duration::zero();
    if (loss.examples > 0) {
      reporter_.progress({std::min(config_.epochs, done / parts_.grid.examples + 1), config_.epochs,
                          done, total, rate, loss.mean(), eta});
    }
  }

  // The reporter is called by one thread only.
  void show_epochs() {
    std::vector<EpochResult> results;
    {
      const std::lock_guard lock(mutex_);
      results.swap(epochs_);
    }
    for (const EpochResult& result : results) reporter_.epoch(result);
  }

  // The parameters stand still: called by the worker that ended the epoch.
  void epoch_done(std::uint64_t version, const Loss& loss) {
    wire::Complete sums;
    sums.set_version(version);
    sums.set_pinned(true);
    sums.set_loss(loss.sum);
    sums.set_weight(loss.weight);
    sums.set_correct(loss.correct);
    sums.set_predictions(loss.predictions);
    sums.set_examples(loss.examples);
    sums.set_skipped(hub_.skipped() - std::exchange(skipped_told_, hub_.skipped()));
    journal_.progress(parts_.grid.examples_before(version), sums);
    const Loss tested = evaluate_dataset(*parts_.model, *test_, hub_.values());
    wire::Evaluated evaluated;
    evaluated.set_version(version);
    evaluated.set_epoch(version / parts_.grid.steps_per_epoch() - 1);
    evaluated.set_loss(tested.mean());
    evaluated.set_accuracy(tested.accuracy());
    evaluated.set_examples(tested.examples);
    if (parts_.data.classes == 2) evaluated.set_f1(tested.f1());
    journal_.evaluated(evaluated);
    {
      const std::lock_guard lock(mutex_);
      epochs_.push_back({evaluated.epoch() + 1, config_.epochs, loss.mean(), tested.mean(),
                         tested.accuracy(), from_seconds(journal_.epoch_seconds(version))});
    }
    const bool due =
        config_.checkpoint_every > 0 && (evaluated.epoch() + 1) % config_.checkpoint_every == 0;
    if (due || version == parts_.last_version) save(version, {});
  }

  void save(std::uint64_t version, std::vector<Range> applied) {
    expect_finite(config_, version, hub_.values());
    CheckpointInfo info = checkpoint_info(config_, parts_, version);
    info.applied = std::move(applied);
    if (!info.applied.empty()) info.examples = examples_done();
    write_checkpoint(checkpoint_path(config_.run_dir, version), info,
                     [this](std::uint64_t vector, Range floats, std::span<float> out) {
                       const std::span<float> from =
                           vector == 0 ? hub_.values()
                                       : hub_.state().subspan((vector - 1) * parts_.chunks.floats(),
                                                              parts_.chunks.floats());
                       std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(floats.begin),
                                   floats.size(), out.begin());
                     });
    prune_checkpoints(config_.run_dir, config_.keep_checkpoints);
  }

  void finish(const std::vector<LoopCounts>& counts, const std::vector<double>& finished) {
    std::string error;
    try {
      hub_.rethrow_failure();
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    const std::uint64_t version = hub_.version();
    const bool complete = version == parts_.last_version;
    if (error.empty() && !std::filesystem::exists(checkpoint_path(config_.run_dir, version))) {
      std::vector<Range> applied = hub_.applied();
      if (applied == std::vector<Range>{{0, version}}) applied.clear();
      save(version, std::move(applied));
    }
    if (interrupted_ && error.empty() && !complete) error = "interrupted";
    const Usage usage = usage_of_this_process();
    nlohmann::json roles = nlohmann::json::array();
    roles.push_back({{"name", "local"},
                     {"role", "local"},
                     {"cpu_seconds", usage.cpu_seconds},
                     {"peak_rss_bytes", usage.peak_rss_bytes},
                     {"bytes_in", 0},
                     {"bytes_out", 0}});
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      roles.push_back({{"name", "worker" + std::to_string(rank)},
                       {"role", "worker"},
                       {"examples", counts[rank].examples.load()},
                       {"finish_seconds", finished[rank]},
                       {"time", times_of(counts[rank].times)}});
    }
    journal_.add_unreadable(Split::kTrain, train_->unreadable());
    journal_.add_unreadable(Split::kTest, test_->unreadable());
    reporter_.summary(journal_.summary(examples_done(), std::move(roles), error));
    hub_.rethrow_failure();
    if (error == "interrupted") throw Interrupted(error);
  }

  RunConfig config_;
  Reporter& reporter_;
  RunParts parts_;
  std::unique_ptr<Dataset> train_;
  std::unique_ptr<Dataset> test_;
  Journal journal_;
  std::unique_ptr<CheckpointReader> reader_;
  LocalHub hub_;
  std::uint64_t examples_at_start_ = 0;
  std::uint64_t skipped_told_ = 0;
  std::mutex mutex_;
  std::vector<EpochResult> epochs_;  // not yet shown
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

void train_with_threads(const RunConfig& config, Reporter& reporter) {
  start_logging("local", config.run_dir / "logs" / "local.log", config.log_level);
  ThreadRun(config, reporter).run();
}

}  // namespace paceline

// A run on sparse rows whose workers are threads that share a table: in sync mode step by step, in
// async mode row by row, waiting for nobody.
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/threads.h"
#include "checkpoint/checkpoint.h"
#include "data/catalogue/open.h"
#include "data/sparse/rows_dataset.h"
#include "exchange/local/local_rows.h"
#include "infer/test.h"
#include "optim/rows/hot_rows.h"
#include "optim/rows/learn_rows.h"
#include "train/local_report.h"
#include "train/loop.h"
#include "train/placement.h"
#include "train/run.h"
#include "train/sparse_rows.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {
namespace {

class LocalSparseRun {
 public:
  LocalSparseRun(const RunSpec& spec, Reporter& reporter)
      : spec_(spec),
        config_(spec.config),
        workload_(make_workload(spec)),
        rule_(rule_of(config_, workload_.schedule)),
        train_(open_rows(config_.data, Split::kTrain)),
        test_(open_rows(config_.data, Split::kTest)),
        report_(spec, workload_.grid, reporter),
        table_(RowDeal(workload_.chunks.floats(), 1), 0, table_options(), workload_.schedule),
        next_step_(table_.version()) {
    if (const auto checkpoint = open_checkpoint(spec_)) {
      report_.record().resumed(spec_.checkpoint, table_.version());
      load_rows(spec_, *checkpoint, table_);
    }
    if (config_.mode == Mode::kSync) {
      LocalRowOptions options{workload_.grid, workload_.rules,
                              static_cast<std::uint32_t>(config_.workers), workload_.last_version};
      hub_ = std::make_unique<LocalRowHub>(
          options, table_,
          [this](std::uint64_t version, const Loss& loss) { end_epoch(version, loss); });
    }
  }

  void run() {
    const StopSignals signals(
        {SIGINT, SIGTERM, SIGHUP},
        [this] {
          stopping_ = true;
          report_.interrupt();
          if (hub_) hub_->stop();
        },
        [this] { return report_.interrupt(); });
    const std::uint64_t first = next_step_;
    report_.begun(workload_.grid.examples_before(first));
    if (hub_) {
      train_together();
    } else {
      while (next_step_ < workload_.last_version && !stopping_) train_epoch();
    }
    finish(first);
  }

 private:
  RowShardOptions table_options() const {
    RowShardOptions options;
    options.optimizer = config_.optimizer;
    options.mode = config_.mode;
    options.grid = workload_.grid;
    options.rules = workload_.rules;
    options.deterministic = config_.deterministic;
    if (const auto checkpoint = open_checkpoint(spec_)) {
      options.version = checkpoint->info().version;
    }
    return options;
  }

  // ---- step by step ------------------------------------------------------------------------

  void train_together() {
    const auto dataset =
        make_rows_dataset(train_, config_.data.limit, "rows/train", RowKeys::kPlaces);
    counts_ = std::vector<LoopCounts>(config_.workers);
    finished_.resize(config_.workers);
    Threads threads;
    threads.start(config_.workers, [&](std::size_t rank) {
      try {
        take_place(config_, place_worker(config_, "worker" + std::to_string(rank)));
        const auto model = make_model(config_, workload_.data);
        const auto exchange = hub_->worker(static_cast<std::uint32_t>(rank));
        run_worker_loop({*dataset, workload_.order, workload_.grid, *model, *exchange,
                         config_.loader, config_.deterministic},
                        counts_[rank]);
      } catch (...) {
        hub_->fail(std::current_exception());
      }
      finished_[rank] = report_.record().elapsed();
    });
    while (threads.running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      report_.show(workload_.grid.examples_before(hub_->version()), hub_->epoch_loss());
    }
    threads.join();
    next_step_ = hub_->version();
    try {
      hub_->rethrow_failure();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // ---- row by row --------------------------------------------------------------------------

  // Until the end of the epoch, or until somebody stops it.
  void train_epoch() {
    const std::uint64_t per_epoch = workload_.grid.steps_per_epoch();
    const std::uint64_t end = (next_step_ / per_epoch + 1) * per_epoch;
    examples_before_ = workload_.grid.examples_before(next_step_);
    HotRows hot(train_->hot(), table_.table(), config_.workers > 1);
    Threads threads;
    threads.start(config_.workers, [&](std::size_t rank) {
      try {
        take_place(config_, place_worker(config_, "worker" + std::to_string(rank)));
        learn(hot, end);
      } catch (...) {
        fail(std::current_exception());
      }
    });
    while (threads.running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      show();
    }
    threads.join();
    hot.put_back(table_.table());
    next_step_ = std::min<std::uint64_t>(next_step_, end);
    if (next_step_ < end || failure_) return;
    end_epoch(end, std::exchange(epoch_loss_, {}));
    show();
  }

  void learn(HotRows& hot, std::uint64_t end) {
    HotRows::Copy mine(hot);
    std::vector<std::uint64_t> examples;
    std::vector<const std::uint32_t*> rows;
    RowRule rule = rule_;
    while (!stopping_) {
      const std::uint64_t step = next_step_.fetch_add(1, std::memory_order_relaxed);
      if (step >= end) break;
      const Range positions = workload_.grid.positions(step);
      examples.resize(positions.size());
      rows.resize(positions.size());
      workload_.order.examples(workload_.grid.epoch_of(step), positions, examples);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = train_->row(examples[i]);
      rule.rate = static_cast<float>(
          workload_.schedule.rate(static_cast<double>(workload_.grid.examples_before(step))));
      const Loss loss = learn_rows(rule, rows, {table_.table().data(), mine.rows()});
      mine.merge();
      if (!std::isfinite(loss.sum)) throw DivergedError(fmt::format("the loss of step {}", step));
      const std::lock_guard lock(mutex_);
      epoch_loss_ += loss;
    }
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    stopping_ = true;
  }

  // ---- tests and checkpoints ---------------------------------------------------------------

  void end_epoch(std::uint64_t version, const Loss& loss) {
    const std::uint64_t skipped = hub_ ? hub_->skipped() : 0;
    report_.trained(version, loss, skipped - std::exchange(skipped_told_, skipped));
    const Metrics tested = test();
    if (!failure_ && report_.tested(version, loss, tested)) save(version);
  }

  // With all cores: nobody learns meanwhile.
  Metrics test() {
    const std::uint64_t count = test_->info().rows;
    std::vector<TableRow> hot;
    for (const Key key : test_->hot()) hot.push_back(table_.table()[key]);
    std::vector<float> scores(count);
    try {
      on_threads(config_.workers, [&](std::size_t rank) {
        const Range part = even_part(count, config_.workers, rank);
        std::vector<const std::uint32_t*> rows;
        for (std::uint64_t i = part.begin; i < part.end; ++i) rows.push_back(test_->row(i));
        score_rows(rule_, rows, {table_.table().data(), hot.data()},
                   std::span(scores).subspan(part.begin, part.size()));
      });
    } catch (...) {
      fail(std::current_exception());
    }
    return test_scores(rule_.loss, scores, labels_of(*test_));
  }

  void save(std::uint64_t version) {
    const CheckpointInfo info = checkpoint_info(spec_, workload_, version);
    const Fill fill = [this](std::uint64_t vector, Range keys, std::span<float> out) {
      std::ranges::copy(table_.part(table_.version(), vector, keys), out.begin());
    };
    report_.save([&] { write_checkpoint(checkpoint_path(config_.run_dir, version), info, fill); });
    prune_checkpoints(config_.run_dir, config_.keep_checkpoints);
  }

  // ---- what people see -------------------------------------------------------------------

  void show() {
    Loss loss;
    {
      const std::lock_guard lock(mutex_);
      loss = epoch_loss_;
    }
    report_.show(examples_before_ + loss.examples, loss);
  }

  void finish(std::uint64_t first) {
    const std::uint64_t version = next_step_;
    std::optional<Error> error;
    if (failure_) {
      try {
        std::rethrow_exception(failure_);
      } catch (const std::exception&) {
        error = current_error();
      }
    } else if (version < workload_.last_version) {
      error = Interrupted("interrupted");
      if (version > first) save(version);
    }
    report_.summary(workload_.grid.examples_before(version), worker_entries(counts_, finished_),
                    error);
    if (failure_) std::rethrow_exception(failure_);
    if (error) throw Interrupted(error->what());
  }

  RunSpec spec_;
  RunConfig config_;
  Workload workload_;
  RowRule rule_;
  std::shared_ptr<const RowCache> train_;
  std::shared_ptr<const RowCache> test_;
  LocalReport report_;
  RowShard table_;
  std::unique_ptr<LocalRowHub> hub_;  // in sync mode
  std::vector<LoopCounts> counts_;    // there
  std::vector<double> finished_;      // there
  std::uint64_t skipped_told_ = 0;
  std::atomic<std::uint64_t> next_step_;
  std::atomic<bool> stopping_ = false;
  std::uint64_t examples_before_ = 0;  // this epoch began, or was gone on with
  std::mutex mutex_;                   // guards the two below
  Loss epoch_loss_;
  std::exception_ptr failure_;
};

}  // namespace

void train_rows_with_threads(const RunSpec& spec, Reporter& reporter) {
  start_logging("local", spec.config.run_dir / "logs" / "local.log", spec.config.log_level);
  LocalSparseRun(spec, reporter).run();
}

}  // namespace paceline

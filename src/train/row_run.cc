// A run on sparse rows whose workers are threads that share a table and wait for nobody.
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "checkpoint/checkpoint.h"
#include "data/open.h"
#include "optim/rows/hot_rows.h"
#include "optim/rows/learn_rows.h"
#include "train/local_report.h"
#include "train/parts.h"
#include "train/placement.h"
#include "train/row_tests.h"
#include "train/run.h"

namespace paceline {
namespace {

class RowRun {
 public:
  RowRun(const RunConfig& config, Reporter& reporter)
      : config_(config),
        parts_(make_parts(config)),
        rule_(rule_of(config)),
        train_(open_rows(config.data, Split::kTrain)),
        test_(open_rows(config.data, Split::kTest)),
        report_(config, parts_.grid, reporter),
        table_(parts_.chunks.floats()) {
    load();
  }

  void run() {
    const SignalWatcher signals({SIGINT, SIGTERM, SIGHUP}, [this](int) { stopping_ = true; });
    const std::uint64_t first = next_step_;
    report_.begun(parts_.grid.examples_before(first));
    while (next_step_ < parts_.last_version && !stopping_) train_epoch();
    finish(first);
  }

 private:
  // Until the end of the epoch, or until somebody stops it.
  void train_epoch() {
    const std::uint64_t per_epoch = parts_.grid.steps_per_epoch();
    const std::uint64_t end = (next_step_ / per_epoch + 1) * per_epoch;
    examples_before_ = parts_.grid.examples_before(next_step_);
    HotRows hot(train_->hot(), table_.rows(), config_.workers > 1);
    std::vector<std::thread> threads;
    std::atomic<std::uint64_t> running = config_.workers;
    for (std::uint32_t rank = 0; rank < config_.workers; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          take_place(config_, place_worker(config_, "worker" + std::to_string(rank)));
          learn(hot, end);
        } catch (...) {
          fail(std::current_exception());
        }
        --running;
      });
    }
    while (running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      show();
    }
    for (std::thread& thread : threads) thread.join();
    hot.put_back(table_.rows());
    next_step_ = std::min<std::uint64_t>(next_step_, end);
    if (next_step_ == end && !failure_) end_epoch();
  }

  void learn(HotRows& hot, std::uint64_t end) {
    HotRows::Copy mine(hot);
    std::vector<std::uint64_t> examples;
    std::vector<const std::uint32_t*> rows;
    RowRule rule = rule_;
    while (!stopping_) {
      const std::uint64_t step = next_step_.fetch_add(1, std::memory_order_relaxed);
      if (step >= end) break;
      const Range positions = parts_.grid.positions(step);
      examples.resize(positions.size());
      rows.resize(positions.size());
      parts_.order.examples(parts_.grid.epoch_of(step), positions, examples);
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = train_->row(examples[i]);
      rule.rate = static_cast<float>(
          parts_.schedule.rate(static_cast<double>(parts_.grid.examples_before(step))));
      const Loss loss = learn_rows(rule, rows, {table_.rows().data(), mine.rows()});
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

  void end_epoch() {
    const std::uint64_t version = next_step_;
    const Loss loss = std::exchange(epoch_loss_, {});
    report_.trained(version, loss, 0);
    const TestResult tested = test();
    if (!failure_ && report_.tested(version, loss, tested)) save(version);
    show();
  }

  // With all cores: nobody learns meanwhile.
  TestResult test() {
    const std::uint64_t count = test_->info().rows;
    std::vector<TableRow> hot;
    for (const Key key : test_->hot()) hot.push_back(table_.rows()[key]);
    std::vector<float> scores(count);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < config_.workers; ++rank) {
      threads.emplace_back([&, part = even_part(count, config_.workers, rank)] {
        try {
          std::vector<const std::uint32_t*> rows;
          for (std::uint64_t i = part.begin; i < part.end; ++i) {
            rows.push_back(test_->row(i));
          }
          score_rows(rule_, rows, {table_.rows().data(), hot.data()},
                     std::span(scores).subspan(part.begin, part.size()));
        } catch (...) {
          fail(std::current_exception());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return test_result(rule_.loss, scores, labels_of(*test_));
  }

  // ---- checkpoints: the weights, then what the optimizer keeps ---------------------------

  void save(std::uint64_t version) {
    write_checkpoint(checkpoint_path(config_.run_dir, version),
                     checkpoint_info(config_, parts_, version),
                     [this](std::uint64_t vector, Range floats, std::span<float> out) {
                       const auto rows = table_.rows().subspan(floats.begin, floats.size());
                       const bool ftrl = rule_.kind == OptimizerKind::kFtrl;
                       for (std::size_t i = 0; i < rows.size(); ++i) {
                         if (vector == 0) out[i] = weight_of(rule_, rows[i]);
                         if (vector == 1) out[i] = ftrl ? rows[i].a : rows[i].b;
                         if (vector == 2) out[i] = rows[i].b;
                       }
                     });
    prune_checkpoints(config_.run_dir, config_.keep_checkpoints);
  }

  void load() {
    if (config_.resume.empty()) return;
    const std::filesystem::path checkpoint = find_checkpoint(config_.resume);
    const CheckpointReader reader(checkpoint);
    next_step_ = reader.info().version;
    report_.journal().resumed(checkpoint, next_step_);
    const bool with_state = reader.info().optimizer == name_of(config_.optimizer.kind);
    const bool ftrl = rule_.kind == OptimizerKind::kFtrl;
    if (ftrl && !with_state) {
      throw ConfigError("cannot go on from {} with ftrl: it was made with {}", checkpoint.string(),
                        reader.info().optimizer);
    }
    std::vector<float> values(std::size_t{1} << 20);
    const auto fill = [&](std::uint64_t vector, float TableRow::*field) {
      for (std::uint64_t at = 0; at < table_.rows().size(); at += values.size()) {
        const Range part{at, std::min<std::uint64_t>(at + values.size(), table_.rows().size())};
        const auto some = std::span(values).first(part.size());
        reader.read(vector, part, some);
        for (std::size_t i = 0; i < some.size(); ++i) {
          if (some[i] != 0) table_.rows()[at + i].*field = some[i];
        }
      }
    };
    fill(ftrl ? 1 : 0, &TableRow::a);
    if (with_state && reader.info().slots > 0) fill(ftrl ? 2 : 1, &TableRow::b);
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
    std::string error;
    if (failure_) {
      try {
        std::rethrow_exception(failure_);
      } catch (const std::exception& failure) {
        error = failure.what();
      }
    } else if (version < parts_.last_version) {
      error = "interrupted";
      if (version > first) save(version);
    }
    report_.summary(parts_.grid.examples_before(version), nlohmann::json::array(), error);
    if (failure_) std::rethrow_exception(failure_);
    if (!error.empty()) throw Interrupted(error);
  }

  RunConfig config_;
  RunParts parts_;
  RowRule rule_;
  std::shared_ptr<const RowCache> train_;
  std::shared_ptr<const RowCache> test_;
  LocalReport report_;
  RowTable table_;
  std::atomic<std::uint64_t> next_step_ = 0;
  std::atomic<bool> stopping_ = false;
  std::uint64_t examples_before_ = 0;  // this epoch began, or was gone on with
  std::mutex mutex_;                   // guards the two below
  Loss epoch_loss_;
  std::exception_ptr failure_;
};

}  // namespace

bool trains_rows(const RunConfig& config) {
  return config.data.name == "rows" && config.exchange == ExchangeKind::kLocal &&
         config.mode == Mode::kAsync;
}

void train_rows_with_threads(const RunConfig& config, Reporter& reporter) {
  start_logging("local", config.run_dir / "logs" / "local.log", config.log_level);
  RowRun(config, reporter).run();
}

}  // namespace paceline

#include "train/local_report.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "train/evaluated.h"
#include "train/patience.h"

namespace paceline {

nlohmann::json worker_entries(const std::vector<LoopCounts>& counts,
                              const std::vector<double>& finished_seconds) {
  nlohmann::json workers = nlohmann::json::array();
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    workers.push_back({{"name", "worker" + std::to_string(rank)},
                       {"role", "worker"},
                       {"examples", counts[rank].examples.load()},
                       {"finish_seconds", finished_seconds[rank]},
                       {"time", times_of(counts[rank].times)}});
  }
  return workers;
}

LocalReport::LocalReport(const RunSpec& spec, const Grid& grid, Reporter& reporter)
    : config_(spec.config),
      grid_(grid),
      reporter_(reporter),
      record_(spec.config, grid, -1, spec.bad_lines) {}

void LocalReport::begun(std::uint64_t examples) {
  examples_at_start_ = examples;
  record_.begun(examples);
}

void LocalReport::trained(std::uint64_t version, const Loss& loss, std::uint64_t steps_skipped) {
  wire::Complete sums;
  sums.set_version(version);
  sums.set_pinned(true);
  sums.set_loss(loss.sum);
  sums.set_weight(loss.weight);
  sums.set_correct(loss.correct);
  sums.set_predictions(loss.predictions);
  sums.set_examples(loss.examples);
  sums.set_skipped(steps_skipped);
  record_.progress(grid_.examples_before(version), sums);
}

bool LocalReport::tested(std::uint64_t version, const Loss& trained, const Metrics& result) {
  const std::uint64_t epoch = version / grid_.steps_per_epoch();  // from 1
  record_.evaluated(evaluated_of(version, epoch - 1, result));
  {
    const std::lock_guard lock(mutex_);
    epochs_.push_back({epoch, config_.epochs, trained.mean(), result.loss.mean(),
                       result.accuracy.value_or(std::numeric_limits<double>::quiet_NaN()),
                       from_seconds(record_.epoch_seconds(version)), result.rmse});
  }
  const bool due = config_.checkpoint_every > 0 && epoch % config_.checkpoint_every == 0;
  return due || epoch == config_.epochs;
}

void LocalReport::show(std::uint64_t examples_done, const Loss& epoch_loss) {
  std::vector<EpochResult> epochs;
  std::vector<std::string> warnings;
  {
    const std::lock_guard lock(mutex_);
    epochs.swap(epochs_);
    warnings.swap(warnings_);
  }
  for (const std::string& warning : warnings) reporter_.warning(warning);
  for (const EpochResult& epoch : epochs) reporter_.epoch(epoch);
  if (epoch_loss.examples == 0) return;
  const double elapsed = record_.elapsed();
  const std::uint64_t total = grid_.examples * config_.epochs;
  const std::uint64_t done = std::min(examples_done, total);
  const double rate =
      elapsed > 0 ? static_cast<double>(done - std::min(done, examples_at_start_)) / elapsed : 0;
  const Duration eta =
      rate > 0 ? from_seconds(static_cast<double>(total - done) / rate) : Duration::zero();
  reporter_.progress({std::min(config_.epochs, done / grid_.examples + 1), config_.epochs, done,
                      total, rate, epoch_loss.mean(), eta});
}

void LocalReport::warn(const std::string& sentence) {
  spdlog::warn("{}", sentence);
  if (std::this_thread::get_id() == shows_) return reporter_.warning(sentence);
  const std::lock_guard lock(mutex_);
  warnings_.push_back(sentence);
}

bool LocalReport::interrupt() {
  const bool waits = waiting_ > 0;
  ++interrupts_;
  return waits;
}

void LocalReport::save(const std::function<void()>& write) {
  // From the first refusal of the disk on.
  struct Waiting {
    std::atomic<int>& count;
    bool counted = false;
    void begin() { count += std::exchange(counted, true) ? 0 : 1; }
    ~Waiting() { count -= counted ? 1 : 0; }
  } waiting{waiting_};
  Patience patience;
  patience.endless = ::isatty(STDERR_FILENO) != 0;
  // A run that was interrupted saves where it is: only a further signal refuses that.
  patience.refused = [this, before = interrupts_.load()] { return interrupts_ > before; };
  patience.say = [&](const std::string& sentence) {
    waiting.begin();
    warn(sentence);
  };
  write_patiently(write, patience);
}

void LocalReport::summary(std::uint64_t examples_done, const nlohmann::json& workers,
                          const std::optional<Error>& error) {
  const Usage usage = usage_of_this_process();
  nlohmann::json roles = nlohmann::json::array();
  roles.push_back({{"name", "local"},
                   {"role", "local"},
                   {"cpu_seconds", usage.cpu_seconds},
                   {"peak_rss_bytes", usage.peak_rss_bytes},
                   {"bytes_in", 0},
                   {"bytes_out", 0}});
  for (const nlohmann::json& worker : workers) roles.push_back(worker);
  const auto write = [&] { reporter_.summary(record_.summary(examples_done, roles, error)); };
  if (!error || error->code() == ExitCode::kInterrupted) return save(write);
  try {
    write();
  } catch (const DataError& failure) {
    spdlog::error("{}", failure.what());  // what the run failed with says more
  }
}

}  // namespace paceline

// What a run within this process tells of itself: to its record, and to whoever watches.
//
// Epochs may end on any thread; what people see is shown by the one that made the report and
// calls show().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "config/run_config.h"
#include "data/share.h"
#include "model/metrics.h"
#include "model/model.h"
#include "observe/reporter.h"
#include "train/loop.h"
#include "train/run_record.h"
#include "train/run_spec.h"

namespace paceline {

// What each worker did, for the summary.
nlohmann::json worker_entries(const std::vector<LoopCounts>& counts,
                              const std::vector<double>& finished_seconds);

class LocalReport {
 public:
  LocalReport(const RunSpec& spec, const Grid& grid, Reporter& reporter);

  RunRecord& record() { return record_; }
  void begun(std::uint64_t examples);

  // An epoch has ended with this version, then its test; returns whether it is to be saved.
  void trained(std::uint64_t version, const Loss& loss, std::uint64_t steps_skipped);
  bool tested(std::uint64_t version, const Loss& trained, const Metrics& result);

  // The epochs since the last time, and how far this one is.
  void show(std::uint64_t examples_done, const Loss& epoch_loss);
  // Calls `write`, which saves what was learned; waits for room while the disk is full.
  void save(const std::function<void()>& write);
  // Someone asks the run to end, from any thread: it no longer waits for room, but what it saves
  // then may wait again. Returns whether it was waiting.
  bool interrupt();

  // Of this process and its workers. Waits for room, too, unless the run has failed, by more than
  // an interruption: then a summary that cannot be written is said in the log.
  void summary(std::uint64_t examples_done, const nlohmann::json& workers,
               const std::optional<Error>& error);

 private:
  void warn(const std::string& sentence);

  RunConfig config_;
  Grid grid_;
  Reporter& reporter_;
  RunRecord record_;
  std::uint64_t examples_at_start_ = 0;
  std::mutex mutex_;
  std::vector<EpochResult> epochs_;    // not yet shown
  std::vector<std::string> warnings_;  // nor these
  std::thread::id shows_ = std::this_thread::get_id();
  std::atomic<int> interrupts_ = 0;
  std::atomic<int> waiting_ = 0;  // for room: how many
};

}  // namespace paceline

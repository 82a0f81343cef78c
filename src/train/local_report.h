// What a run within this process tells of itself: to its journal, and to whoever watches.
//
// Epochs may end on any thread; what people see is shown by the one that calls show().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "data/share.h"
#include "model/model.h"
#include "observe/reporter.h"
#include "train/journal.h"
#include "train/loop.h"
#include "train/run_config.h"
#include "train/test_result.h"

namespace paceline {

// What each worker did, for the summary.
nlohmann::json worker_entries(const std::vector<LoopCounts>& counts,
                              const std::vector<double>& finished_seconds);

class LocalReport {
 public:
  LocalReport(const RunConfig& config, const Grid& grid, Reporter& reporter);

  Journal& journal() { return journal_; }
  void begun(std::uint64_t examples);

  // An epoch has ended with this version, then its test; returns whether it is to be saved.
  void trained(std::uint64_t version, const Loss& loss, std::uint64_t steps_skipped);
  bool tested(std::uint64_t version, const Loss& trained, const TestResult& result);

  // The epochs since the last time, and how far this one is.
  void show(std::uint64_t examples_done, const Loss& epoch_loss);
  // Of this process and its workers.
  void summary(std::uint64_t examples_done, const nlohmann::json& workers,
               const std::string& error);

 private:
  RunConfig config_;
  Grid grid_;
  Reporter& reporter_;
  Journal journal_;
  std::uint64_t examples_at_start_ = 0;
  std::mutex mutex_;
  std::vector<EpochResult> epochs_;  // not yet shown
};

}  // namespace paceline

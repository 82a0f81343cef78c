// What is written down of a run: metrics.jsonl, summary.json, and the lines that the
// launcher turns into what a person sees.
//
// A line is a JSON object with a "type": address, begun, progress, epoch, notice, warning,
// worker_epoch, stopping, summary. metrics.jsonl gets all but address, stopping and summary.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "data/share.h"
#include "exchange/protocol.pb.h"
#include "observe/metrics_file.h"
#include "train/run_config.h"

namespace paceline {

class Journal {
 public:
  Journal(const RunConfig& config, const Grid& grid, int status_fd);

  void address(const std::string& text);
  void begun(std::uint64_t examples_done);
  // Examples done so far; sums of one server since the last call.
  void progress(std::uint64_t examples, const wire::Complete& sums);
  void epoch_trained(std::uint64_t epoch, std::uint64_t version);
  void evaluated(const wire::Evaluated& evaluated);
  void untested(std::uint64_t epoch, std::uint64_t version);
  void worker_epoch(const std::string& worker, const wire::WorkerEpoch& result);
  void notice(const std::string& text);
  void warning(const std::string& text);
  void stopping();  // someone asked to

  double elapsed() const;  // seconds since begun()

  // Writes summary.json, tells the launcher, and returns it. `roles` is an array of objects.
  // The epochs before a resumed run's first are those that its predecessor wrote down.
  nlohmann::json summary(std::uint64_t examples, nlohmann::json roles, const std::string& error);

 private:
  struct EpochRecord {
    double loss = 0;
    std::uint64_t correct = 0;
    std::uint64_t examples = 0;
    double ended = 0;  // seconds since begun()
    double seconds = 0;
  };
  void read_earlier_epochs();
  void epoch(std::uint64_t number, std::uint64_t version, const nlohmann::json& test_loss,
             const nlohmann::json& test_accuracy);
  void tell(const nlohmann::json& line);
  void record(const nlohmann::json& line);
  bool launcher_reads() const;

  RunConfig config_;
  Grid grid_;
  int status_fd_;
  MetricsFile metrics_;
  TimePoint begun_;
  bool has_begun_ = false;
  std::uint64_t examples_at_start_ = 0;
  double last_progress_ = -1;
  wire::Complete sums_;                          // of the epoch under way
  std::map<std::uint64_t, EpochRecord> epochs_;  // by version
  double last_epoch_end_ = 0;
  double trained_ = 0;  // seconds until the last epoch was trained
  std::uint64_t skipped_ = 0;
  nlohmann::json results_ = nlohmann::json::array();
  std::map<std::string, nlohmann::json> worker_epochs_;  // by worker
};

}  // namespace paceline

// What is written down of a run: metrics.jsonl, summary.json, and the lines that the
// launcher turns into what a person sees.
//
// A line is a JSON object with a "type": address, begun, progress, epoch, notice, warning,
// worker_epoch, stopping, leaving, summary. metrics.jsonl gets those about the training.
//
// A launcher that does not read, because its terminal is held, stops nothing: lines wait.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "config/run_config.h"
#include "data/dataset.h"
#include "data/share.h"
#include "observe/metrics_file.h"
#include "session/protocol.pb.h"

namespace paceline {

enum class Hears { kNo, kYes };

class RunRecord {
 public:
  // `bad_lines`: of click logs, left out.
  RunRecord(const RunConfig& config, const Grid& grid, int status_fd,
            std::optional<std::uint64_t> bad_lines = std::nullopt);

  // The run goes on from here: its predecessor's epochs count as its own.
  void resumed(const std::filesystem::path& checkpoint, std::uint64_t version);

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
  // All others are sent home. Told again whenever it gets on, with what it does: "writing …", and
  // whether it still hears who asks it to stop.
  void leaving(const std::string& doing, Hears hears = Hears::kNo);
  void flush();                           // to the launcher, what it takes
  void write_out() { metrics_.flush(); }  // waits until metrics.jsonl has all

  // Files of this part of the data that a role could not read, with what others have said.
  template <typename Files>
  const std::set<std::string>& add_unreadable(Split split, const Files& files) {
    auto& known = split == Split::kTrain ? unreadable_ : unreadable_tests_;
    known.insert(files.begin(), files.end());
    return known;
  }

  double elapsed() const;  // seconds since begun()

  double epoch_seconds(std::uint64_t version) const;  // how long the epoch took that ended so

  // Writes summary.json, tells the launcher, and returns it. `roles` is an array of objects. May
  // be called again when the disk was full (DiskFull).
  nlohmann::json summary(std::uint64_t examples, nlohmann::json roles,
                         const std::optional<Error>& error);

 private:
  struct EpochRecord {
    double loss = 0;
    std::uint64_t correct = 0;
    std::uint64_t predictions = 0;
    std::uint64_t examples = 0;
    double ended = 0;  // seconds since begun()
    double seconds = 0;
    bool written = false;
  };
  // `tested` has the results of the test; null where there are none.
  void epoch(std::uint64_t number, std::uint64_t version, const nlohmann::json& tested);
  void tell(const nlohmann::json& line);
  void record(const nlohmann::json& line);

  RunConfig config_;
  Grid grid_;
  int status_fd_;
  std::string pending_;  // for the launcher
  MetricsFile metrics_;
  const char* measure_;  // what a test is known by: the key of its accuracy or of its error
  TimePoint begun_;
  std::optional<std::uint64_t> bad_lines_;  // of click logs: left out
  bool has_begun_ = false;
  std::uint64_t examples_at_start_ = 0;
  double last_progress_ = -1;
  wire::Complete sums_;                          // of the epoch under way
  std::map<std::uint64_t, EpochRecord> epochs_;  // by version
  double last_epoch_end_ = 0;
  double trained_ = 0;  // seconds until the last epoch was trained
  std::uint64_t predictions_ = 0;
  std::uint64_t skipped_ = 0;
  std::set<std::string> unreadable_;
  std::set<std::string> unreadable_tests_;
  nlohmann::json results_ = nlohmann::json::array();
  std::map<std::string, nlohmann::json> worker_epochs_;  // by worker
};

}  // namespace paceline

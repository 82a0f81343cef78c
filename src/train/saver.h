// Writes checkpoints on a thread of its own: reads a version from all servers, writes the
// file, removes old ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/activity.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "exchange/ps/connection.h"
#include "exchange/ps/reader.h"
#include "exchange/ps/row_reader.h"
#include "train/workload.h"

namespace paceline {

class Saver {
 public:
  struct Failure {
    Error error;
    bool server_lost = false;
  };
  // Called on the saver's thread.
  using Done = std::function<void(std::uint64_t version, const std::optional<Failure>& failure)>;

  Saver(const RunConfig& config, const ChunkMap& map, PsAddress address, Done done);
  ~Saver();  // drops all jobs; one whose numbers are there already is finished
  void save(CheckpointInfo info);
  std::vector<std::uint64_t> unfinished() const;          // versions; from any thread
  const Activity& activity() const { return activity_; }  // of its thread

 private:
  void work();
  void write(const CheckpointInfo& info);

  RunConfig config_;
  ChunkMap map_;
  PsAddress address_;
  Done done_;
  Loop loop_{Duration::zero()};  // of the saver's thread, as are the four below
  std::unique_ptr<PsReader> reader_;
  std::unique_ptr<RowReader> row_reader_;
  Buffer values_;
  Buffer state_;
  Activity activity_{"saving"};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CheckpointInfo> jobs_;
  std::optional<std::uint64_t> current_;  // that is being saved
  bool over_ = false;
  std::thread thread_;
};

}  // namespace paceline

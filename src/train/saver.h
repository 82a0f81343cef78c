// Writes checkpoints on a thread of its own: reads a version from all servers, writes the
// file, removes old ones.
//
// A disk may stall for ever, and its thread with it. So nobody waits for the thread without end:
// what it uses is its own, and it is left behind when the saver goes. Called by one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "exchange/ps/connection.h"
#include "session/protocol.pb.h"
#include "train/workload.h"

namespace paceline {

class Saver {
 public:
  struct Failure {
    Error error;
    bool server_lost = false;
  };
  // Called on the saver's thread; not after finish(), nor when the saver is gone.
  using Done = std::function<void(std::uint64_t version, const std::optional<Failure>& failure)>;

  Saver(const RunConfig& config, const ChunkMap& map, PsAddress address, Done done);
  ~Saver();  // drops all jobs; waits for nothing
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  void save(CheckpointInfo info);
  std::vector<std::uint64_t> unfinished() const;  // versions
  // What its thread does, and the bytes that it has read.
  wire::Heartbeat beat() const;

  // Its thread hangs: finish() does not wait for it, unless it goes on after all.
  void give_up();
  // Drops all jobs but one whose numbers are there already. That is waited for, as long as
  // something of it is written within each `patience`; `gets_on` is called before each.
  void finish(Duration patience, const std::function<void()>& gets_on = {});

 private:
  struct Work;
  std::shared_ptr<Work> work_;
  std::thread thread_;
};

}  // namespace paceline

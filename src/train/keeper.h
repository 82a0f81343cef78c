// Stands in for a parameter server in a run that has none: keeps pinned versions of what the
// workers of a ring hold, for the evaluator and for checkpoints, and tells the chief how far
// the run is. Lives in the first worker's process, on a thread of its own; when that process is
// gone, a survivor's takes its place, with the version that it has come to.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "exchange/ps/pinned_server.h"
#include "model/model.h"
#include "net/socket.h"
#include "session/chief_line.h"
#include "train/role.h"
#include "train/workload.h"

namespace paceline {

// Adds a step's figures to those since the last report.
void add_step(wire::Complete& sums, std::uint64_t version, const Loss& loss, bool skipped);

class Keeper {
 public:
  // Registers with the chief as a server. `stop` is called, on the keeper's thread, when the
  // chief wants the run to stop; stopped() must follow.
  Keeper(const RoleContext& role, const Workload& workload, std::function<void()> stop);
  ~Keeper();

  // After every step, while the parameters stand still. Waits when too many pinned versions
  // have not been fetched yet.
  void step_done(std::uint64_t version, const Loss& loss, bool skipped,
                 std::span<const float> values, std::span<const float> state);
  // No step will follow. `epoch` are the sums of the epoch that this version ends, or is in.
  void stopped(std::uint64_t version, std::shared_ptr<const PinnedVersion> content,
               const wire::Complete& epoch = {});
  // step_done() waits for nothing any more: no step will be done. From any thread.
  void abandon();

 private:
  void told(wire::Type type, std::string_view meta);
  void report();
  std::shared_ptr<const PinnedVersion> copy(std::span<const float> values,
                                            std::span<const float> state) const;
  void tell_stopped();
  void tell_pinned();

  RoleContext role_;
  Grid grid_;
  std::function<void()> stop_;
  Loop loop_;
  PinnedServer server_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<ChiefLine> line_;
  Loop::Token reports_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  wire::Complete sums_;  // since the last report
  std::set<std::uint64_t> pins_;
  std::optional<std::uint64_t> stopped_;
  wire::Complete epoch_;  // that it stopped in
  bool asked_to_stop_ = false;
  std::optional<std::uint64_t> asked_to_pin_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace paceline

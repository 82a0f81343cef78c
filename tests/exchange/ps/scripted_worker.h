// A WorkerCore that is told things in few words and answers in sentences (describe.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exchange/ps/describe.h"
#include "exchange/ps/worker_core.h"

namespace paceline {

inline wire::Assignment assignment_of(
    std::uint32_t epoch, std::uint64_t start,
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& workers) {
  wire::Assignment assignment;
  assignment.set_epoch(epoch);
  assignment.set_start(start);
  for (const auto& [worker, weight] : workers) {
    wire::AssignmentEntry& entry = *assignment.add_entries();
    entry.set_worker(worker);
    entry.set_weight(weight);
  }
  return assignment;
}

inline wire::Assignment with_adopted(wire::Assignment assignment, std::uint64_t step, Range tiles,
                                     std::uint32_t epoch) {
  wire::ShareOf& share = *assignment.add_adopt();
  share.set_step(step);
  share.mutable_tiles()->set_begin(tiles.begin);
  share.mutable_tiles()->set_end(tiles.end);
  share.set_epoch(epoch);
  return assignment;
}

// Worker 1 of a run with two chunks and steps of four tiles, 25 of them in an epoch.
struct ScriptedWorker {
  static WorkerCore::Options options(Mode mode) {
    WorkerCore::Options options;
    options.mode = mode;
    options.grid = {.examples = 100, .batch = 4, .tile = 1};
    options.chunks = 2;
    options.incarnation = 1;
    options.last_version = 25;
    return options;
  }

  explicit ScriptedWorker(Mode mode = Mode::kSync) : core(options(mode)) {}
  explicit ScriptedWorker(const WorkerCore::Options& opts) : core(opts) {}

  std::string next() {
    Share share;
    switch (core.next(share)) {
      case WorkerCore::Next::kShare:
        return fmt::format("step {} tiles {}-{}", share.step, share.tiles.begin, share.tiles.end);
      case WorkerCore::Next::kWait:
        return "wait";
      case WorkerCore::Next::kDone:
        return "done";
    }
    return "unknown";
  }
  Lines asked() { return lines(core.take_actions()); }  // by next()
  Lines needs(std::uint32_t chunk) { return lines(core.needs(chunk)); }
  Lines params(std::uint32_t chunk, std::uint64_t version) {
    return lines(core.params(chunk, version));
  }
  Lines arrived(std::uint32_t chunk, std::uint64_t version) {
    return lines(core.arrived(chunk, version));
  }
  Lines install_aside() { return lines(core.install_aside()); }
  void all_params(std::uint64_t version) {
    params(0, version);
    params(1, version);
  }
  Lines push(std::uint32_t chunk) { return lines(core.push(chunk, {})); }
  // Computes the share in hand, whatever it takes.
  Lines compute(std::uint64_t version) {
    Lines said;
    for (const std::uint32_t chunk : {0, 1}) needs(chunk);
    for (const std::uint32_t chunk : {0, 1}) {
      if (!core.holds(chunk)) params(chunk, version);
    }
    for (const std::uint32_t chunk : {1, 0}) said.push_back(push(chunk).back());
    return said;
  }
  Lines prepare(std::uint32_t epoch) {
    wire::Prepare prepare;
    prepare.set_epoch(epoch);
    return lines(core.prepare(prepare));
  }
  void lease(Range steps) {
    wire::Lease lease;
    wire::Tiles& range = *lease.add_steps();
    range.set_begin(steps.begin);
    range.set_end(steps.end);
    core.lease(lease);
  }
  void refused(std::uint32_t chunk, std::uint64_t step, wire::Refusal::Reason reason,
               std::uint64_t version) {
    wire::Refusal refusal;
    refusal.set_chunk(chunk);
    refusal.set_step(step);
    refusal.set_reason(reason);
    refusal.set_version(version);
    core.refused(refusal);
  }

  WorkerCore core;
};

}  // namespace paceline

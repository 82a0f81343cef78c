// ChiefCore's assignments: who computes what in synchronous mode, and how that changes.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cluster/chief_core.h"

namespace paceline {

wire::Assignment ChiefCore::make_assignment(std::uint64_t start) {
  Assignment assignment{reassignment_ ? reassignment_->epoch : ++epoch_, start, {}};
  wire::Assignment message;
  message.set_epoch(assignment.epoch);
  message.set_start(start);
  for (const std::uint32_t worker : live(Role::kWorker)) {
    assignment.entries.push_back({worker, 1});
    wire::AssignmentEntry& entry = *message.add_entries();
    entry.set_worker(worker);
    entry.set_weight(1);
  }
  owners_.add(std::move(assignment));
  return message;
}

void ChiefCore::start_reassignment(std::set<std::uint32_t> dead) {
  if (reassignment_) dead.insert(reassignment_->dead.begin(), reassignment_->dead.end());
  reassignment_ = Reassignment{++epoch_, std::move(dead), {}, {}};
  wire::Fence fence;
  fence.set_number(reassignment_->epoch);
  for (const std::uint32_t worker : reassignment_->dead) fence.add_dead(worker);
  send_all(Role::kServer, fence);
  wire::Prepare prepare;
  prepare.set_epoch(reassignment_->epoch);
  for (const std::uint32_t worker : live(Role::kWorker)) {
    if (members_.at(worker).begun) send(worker, prepare);
  }
}

const ChiefCore::Actions& ChiefCore::fenced(std::uint32_t server, const wire::Fenced& fenced) {
  actions_.clear();
  expect_server(server);
  expect_reached(fenced.open());
  expect_reached(fenced.untouched());
  if (reassignment_ && fenced.number() == reassignment_->epoch) {
    reassignment_->fenced[server] = fenced;
    finish_reassignment_if_ready();
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::prepared(std::uint32_t worker,
                                              const wire::Prepared& prepared) {
  actions_.clear();
  expect(worker, Role::kWorker);
  expect_reached(prepared.next());
  if (reassignment_ && prepared.epoch() == reassignment_->epoch) {
    reassignment_->prepared[worker] = prepared.next();
    finish_reassignment_if_ready();
  }
  return actions_;
}

void ChiefCore::finish_reassignment_if_ready() {
  if (stopping_) return;
  // Never before the last assignment's start: shares of earlier steps have been handed over as
  // the assignment before it cut them.
  std::uint64_t start = owners_.last_start();
  std::uint64_t open = options_.last_version;
  for (const std::uint32_t server : live(Role::kServer)) {
    const auto found = reassignment_->fenced.find(server);
    if (found == reassignment_->fenced.end()) return;
    start = std::max(start, found->second.untouched());
    open = std::min(open, found->second.open());
  }
  for (const std::uint32_t worker : live(Role::kWorker)) {
    if (!members_.at(worker).begun) continue;
    const auto found = reassignment_->prepared.find(worker);
    if (found == reassignment_->prepared.end()) return;
    start = std::max(start, found->second);
  }
  if (live(Role::kWorker).empty()) {
    const Reassignment last = *std::exchange(reassignment_, std::nullopt);
    if (open >= options_.last_version) return finish_if_done();
    return end_early(last.failure);
  }
  const auto adopted =
      owners_.reassign({open, std::max(open, start)}, reassignment_->dead, heirs());
  const wire::Assignment assignment = make_assignment(start);
  for (const std::uint32_t worker : live(Role::kWorker)) {
    wire::Assignment mine = assignment;
    if (const auto found = adopted.find(worker); found != adopted.end()) {
      for (const auto& [share, cut_by] : found->second) {
        wire::ShareOf& adopt = *mine.add_adopt();
        adopt.set_step(share.step);
        adopt.mutable_tiles()->set_begin(share.tiles.begin);
        adopt.mutable_tiles()->set_end(share.tiles.end);
        adopt.set_epoch(cut_by);
      }
    }
    ClusterMember& member = members_.at(worker);
    if (member.begun) {
      send(worker, mine);
    } else {
      begin(member, start, mine);
    }
  }
  actions_.push_back(
      Notice{fmt::format("assignment {} from step {} on: {} worker{}", assignment.epoch(), start,
                         assignment.entries_size(), assignment.entries_size() == 1 ? "" : "s")});
  reassignment_.reset();
}

// Those who can begin at once, if there are any.
std::vector<std::uint32_t> ChiefCore::heirs() const {
  const std::vector<std::uint32_t> all = live(Role::kWorker);
  std::vector<std::uint32_t> begun = all;
  std::erase_if(begun, [&](std::uint32_t worker) { return !members_.at(worker).begun; });
  return begun.empty() ? all : begun;
}

std::string ChiefCore::owners(std::uint64_t step, const std::vector<Range>& missing) const {
  std::vector<std::string> names;
  for (const std::uint32_t worker : owners_.owing(step, missing)) {
    const ClusterMember* found = member(worker);
    if (found != nullptr) names.push_back(found->name + (found->live ? "" : " (lost)"));
  }
  return join(names, ", ");
}

}  // namespace paceline

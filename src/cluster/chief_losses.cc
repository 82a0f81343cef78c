// What ChiefCore does when a member is lost.
#include <utility>

#include "cluster/chief_core.h"

namespace paceline {
namespace {

// Whoever sees the process of the member may know a better cause: see Error::explain.
Error loss_of(const ClusterMember& member, const Error& cause) {
  CommError lost(cause, "{} is lost", member.name);
  lost.set_about(member.name);
  return lost;
}

}  // namespace

const ChiefCore::Actions& ChiefCore::lost(std::uint32_t incarnation, const Error& cause) {
  actions_.clear();
  const auto found = members_.find(incarnation);
  if (found == members_.end() || !found->second.live) return actions_;
  ClusterMember& member = found->second;
  member.live = false;
  if (finished_) return actions_;
  Error lost = loss_of(member, cause);
  if (!started_ && !stopping_) {
    lost.add_remark(", before the run began");
    end_early(lost);
  } else if (member.role == Role::kServer) {
    lost_server(lost);
  } else if (member.role == Role::kEvaluator && !stopping_) {
    lost.add_remark("; the run goes on without testing");
    actions_.push_back(Notice{lost.what(), true});
    for (const auto& [version, epoch] : std::map(epochs_)) {
      if (epoch.evaluated || !epoch.announced) continue;
      epochs_[version].evaluated = true;
      actions_.push_back(EpochUntested{epoch.number, version});
      settle_epoch(version);
    }
  } else if (member.role == Role::kWorker && !stopping_) {
    actions_.push_back(Notice{lost.what(), true});
    if (all_leased_and_done() || all_steps_done()) {
      finish_if_done();
    } else {
      lost_worker(incarnation, lost);
    }
  } else if (member.role == Role::kWorker) {
    stop_servers_if_quiet();
  }
  if (incarnation == heir_ && live(Role::kServer).empty()) ask_to_keep();
  return actions_;
}

void ChiefCore::lost_server(Error lost) {
  if (options_.elastic || diverged()) {
    lost.add_remark("; its parameters are gone");
    if (!diverged()) failure_ = lost;         // otherwise that is the better reason
    send_all(Role::kWorker, stop_message());  // so that they know why they may go
    return finish();
  }
  actions_.push_back(Notice{lost.what(), true});
  // Others of the ring hold the same. What was pinned before the end is gone with it.
  versions_.clear();
  stopped_.clear();
  saving_.reset();
  for (auto& [version, epoch] : epochs_) {
    epoch.pinned.clear();
    if (!std::exchange(epoch.announced, false) || version == options_.last_version) continue;
    if (!epoch.evaluated) actions_.push_back(EpochUntested{epoch.number, version});
  }
  std::erase_if(epochs_, [&](const auto& entry) { return entry.first != options_.last_version; });
  if (!all_steps_done()) end_early(lost);
  ask_to_keep();
}

void ChiefCore::ask_to_keep() {
  if (finished_) return;
  const auto survivors = live(Role::kWorker);
  if (survivors.empty()) {
    failure_ = CommError("no worker is left that holds the parameters");
    return finish();
  }
  heir_ = survivors.front();
  send(heir_, wire::Keep());
}

// It holds one version: the last, or that at which the ring was broken.
void ChiefCore::begin_with_heir(std::uint32_t keeper) {
  versions_[keeper] = watermark_;
  if (stopping_) {
    servers_told_ = false;
    return stop_servers();
  }
  for (const std::uint32_t evaluator : live(Role::kEvaluator)) {
    begin(members_.at(evaluator), options_.last_version, {});
  }
  wire::Pin pin;
  pin.set_version(options_.last_version);
  send(keeper, pin);
}

void ChiefCore::lost_worker(std::uint32_t worker, const Error& lost) {
  if (!options_.elastic) return end_early(lost);
  if (options_.mode == Mode::kSync) {
    start_reassignment({worker});  // also without survivors: all may be done already
    reassignment_->failure = CommError(lost, "no worker is left");
    return;
  }
  if (live(Role::kWorker).empty()) return end_early(CommError(lost, "no worker is left"));
  wire::Fence fence;
  fence.add_dead(worker);
  send_all(Role::kServer, fence);
  leases_.give_back(worker);
  lease_all();
}

}  // namespace paceline

// What ChiefCore does when a member is lost.
#include <utility>

#include "cluster/chief_core.h"

namespace paceline {

const ChiefCore::Actions& ChiefCore::lost(std::uint32_t incarnation, const std::string& reason) {
  actions_.clear();
  const auto found = members_.find(incarnation);
  if (found == members_.end() || !found->second.live) return actions_;
  ClusterMember& member = found->second;
  member.live = false;
  if (finished_) return actions_;
  const std::string what = member.name + " is lost: " + reason;
  if (!started_ && !stopping_) {
    end_early(what + ", before the run began", ExitCode::kCommunication);
  } else if (member.role == Role::kServer) {
    lost_server(what);
  } else if (member.role == Role::kEvaluator && !stopping_) {
    actions_.push_back(Notice{what + "; the run goes on without testing", true});
    for (const auto& [version, epoch] : std::map(epochs_)) {
      if (epoch.evaluated || !epoch.announced) continue;
      epochs_[version].evaluated = true;
      actions_.push_back(EpochUntested{epoch.number, version});
      settle_epoch(version);
    }
  } else if (member.role == Role::kWorker && !stopping_) {
    actions_.push_back(Notice{what, true});
    if (all_leased_and_done() || all_steps_done()) {
      finish_if_done();
    } else {
      lost_worker(incarnation, what);
    }
  } else if (member.role == Role::kWorker) {
    stop_servers_if_quiet();
  }
  if (incarnation == heir_ && live(Role::kServer).empty()) ask_to_keep();
  return actions_;
}

void ChiefCore::lost_server(const std::string& reason) {
  if (options_.elastic || diverged()) {
    if (!diverged()) {  // which is the better reason
      stop_reason_ = reason + "; its parameters are gone";
      stop_code_ = ExitCode::kCommunication;
    }
    send_all(Role::kWorker, failure());  // so that they know why they may go
    return finish();
  }
  actions_.push_back(Notice{reason, true});
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
  if (!all_steps_done()) end_early(reason, ExitCode::kCommunication);
  ask_to_keep();
}

void ChiefCore::ask_to_keep() {
  if (finished_) return;
  const auto survivors = live(Role::kWorker);
  if (survivors.empty()) {
    stop_reason_ = "no worker is left that holds the parameters";
    stop_code_ = ExitCode::kCommunication;
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

void ChiefCore::lost_worker(std::uint32_t worker, const std::string& reason) {
  if (!options_.elastic) return end_early(reason, ExitCode::kCommunication);
  if (options_.mode == Mode::kSync) {
    start_reassignment({worker});  // also without survivors: all may be done already
    reassignment_->reason = reason;
    return;
  }
  if (live(Role::kWorker).empty()) {
    return end_early("no worker is left; " + reason, ExitCode::kCommunication);
  }
  wire::Fence fence;
  fence.add_dead(worker);
  send_all(Role::kServer, fence);
  leases_.give_back(worker);
  lease_all();
}

}  // namespace paceline

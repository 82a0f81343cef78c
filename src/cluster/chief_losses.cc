// What ChiefCore does when a member is lost.
#include <algorithm>
#include <utility>

#include "cluster/chief_core.h"
#include "session/identity.h"

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
    if (!testers_leave_) actions_.push_back(Notice{lost.what(), true});
    leave_untested();
  } else if (member.role == Role::kWorker && !stopping_) {
    actions_.push_back(Notice{lost.what(), true});
    if (all_leased_and_done() || all_steps_done()) {
      finish_if_done();
    } else if (cause.code() == ExitCode::kInterrupted && live(Role::kWorker).empty()) {
      end_as_asked();  // somebody has asked all of them
    } else {
      lost_worker(incarnation, lost);
    }
  } else if (member.role == Role::kWorker) {
    stop_servers_if_quiet();
  }
  if (incarnation == heir_ && live(Role::kServer).empty()) ask_to_keep(lost);
  return actions_;
}

// Nobody is left to test them.
void ChiefCore::leave_untested() {
  for (const auto& [version, epoch] : std::map(epochs_)) {
    if (epoch.evaluated || !epoch.announced) continue;
    epochs_[version].evaluated = true;
    actions_.push_back(EpochUntested{epoch.number, version});
    settle_epoch(version);
  }
}

void ChiefCore::lost_server(Error lost) {
  if (!options_.ring || diverged()) {
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
  if (all_steps_done()) {
    send_all(Role::kWorker, stop_message());  // one may still wait for the last sum
  } else {
    break_ring(lost);
  }
  ask_to_keep(lost);
}

void ChiefCore::ask_to_keep(const Error& lost) {
  if (finished_) return;
  const auto heirs = who_may_keep();
  if (!heirs.empty()) {
    heir_ = heirs.front();
    return send(heir_, wire::Keep());
  }
  if (last_saved_ == options_.last_version) return await_last_test();
  if (!failure_ || broken_)
    failure_ = CommError(lost, "no worker is left that holds the parameters");
  finish();
}

// Not one whose keeper hangs: it cannot have another.
std::vector<std::uint32_t> ChiefCore::who_may_keep() const {
  auto workers = live(Role::kWorker);
  std::erase_if(workers, [this](std::uint32_t worker) {
    const std::string name = keeper_name(members_.at(worker).name);
    return std::ranges::any_of(members_, [&](const auto& entry) {
      return entry.second.role == Role::kServer && entry.second.name == name;
    });
  });
  return workers;
}

// All is saved. Who tests the last version may have all of it already, and tells the result before
// it leaves; it leaves without one when it has not.
void ChiefCore::await_last_test() {
  if (broken_) mend();
  const auto last = epochs_.find(options_.last_version);
  if (stopping_ || last == epochs_.end() || last->second.evaluated) return finish();
  last->second.announced = last->second.saved = true;
  if (live(Role::kEvaluator).empty()) return leave_untested();
  testers_leave_ = true;
  send_all(Role::kEvaluator, wire::Goodbye());
}

// It holds one version: the last, or that at which the ring was broken.
void ChiefCore::begin_with_heir(std::uint32_t keeper) {
  versions_[keeper] = watermark_;
  if (stopping_) {
    servers_told_ = false;
    return stop_servers();
  }
  pin_last_version();
}

void ChiefCore::pin_last_version() {
  if (heir_ != 0) {
    for (const std::uint32_t evaluator : live(Role::kEvaluator)) {
      begin(members_.at(evaluator), options_.last_version, {});
    }
  }
  wire::Pin pin;
  pin.set_version(options_.last_version);
  send_all(Role::kServer, pin);
}

void ChiefCore::break_ring(const Error& lost) {
  if (stopping_ || finished_) return;
  end_early(lost);
  broken_ = true;
}

void ChiefCore::mend() {
  stopping_ = broken_ = servers_told_ = false;
  failure_.reset();
  stopped_.clear();
}

void ChiefCore::go_on_to_last_test() {
  mend();
  actions_.push_back(
      Notice{"all steps were done before that: the last version is tested and saved as usual"});
  send_all(Role::kWorker, stop_message());  // they took the loss for a failure
  // Before others are settled: with none left the run would end.
  if (!epochs_[options_.last_version].announced) pin_last_version();
  if (live(Role::kEvaluator).empty()) leave_untested();
  for (const auto& [version, epoch] : std::map(epochs_)) settle_epoch(version);
}

void ChiefCore::lost_worker(std::uint32_t worker, const Error& lost) {
  if (options_.ring) return break_ring(lost);
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

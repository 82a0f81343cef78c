#include "cluster/chief_core.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace paceline {

ChiefCore::ChiefCore(const Options& options)
    : options_(options),
      watermark_(options.version),
      done_(options.applied),
      next_lease_(options.version),
      last_saved_(options.version) {
  if (done_.size() == 0) done_.add_below(options_.version);
  next_lease_ = done_.first_missing();
  const std::uint64_t per_epoch = options_.grid.steps_per_epoch();
  epoch_end_ = std::min(options_.last_version, (next_lease_ / per_epoch + 1) * per_epoch);
}

// ---- members ---------------------------------------------------------------------------

void ChiefCore::send(std::uint32_t incarnation, ChiefMessage message) {
  actions_.push_back(SendToMember{incarnation, std::move(message)});
}

void ChiefCore::send_all(Role role, const ChiefMessage& message) {
  for (const std::uint32_t member : live(role)) send(member, message);
}

std::vector<std::uint32_t> ChiefCore::live(Role role) const {
  std::vector<std::uint32_t> found;
  for (const auto& [incarnation, member] : members_) {
    if (member.live && member.role == role) found.push_back(incarnation);
  }
  return found;
}

const ClusterMember* ChiefCore::member(std::uint32_t incarnation) const {
  const auto found = members_.find(incarnation);
  return found == members_.end() ? nullptr : &found->second;
}

const ChiefCore::Actions& ChiefCore::registered(Role role, const std::string& name,
                                                const std::string& address,
                                                std::uint32_t& incarnation) {
  actions_.clear();
  incarnation = ++last_incarnation_;
  ClusterMember member{role, incarnation, 0, name, address, true, false};
  for (const auto& [other, existing] : members_) {
    if (existing.role == role) ++member.rank;
  }
  members_.emplace(incarnation, member);
  wire::Registered reply;
  reply.set_incarnation(incarnation);
  reply.set_rank(member.rank);
  send(incarnation, reply);
  if (!started_) {
    begin_if_ready();
  } else if (role == Role::kWorker && !stopping_ && !finished_) {
    actions_.push_back(Notice{name + " joins"});
    if (options_.mode == Mode::kSync) {
      start_replan({});
    } else {
      begin(members_.at(incarnation), watermark_, {});
      lease_to(incarnation);
    }
  }
  return actions_;
}

void ChiefCore::begin_if_ready() {
  const auto servers = live(Role::kServer);
  if (servers.size() < options_.servers || live(Role::kWorker).size() < options_.workers ||
      live(Role::kEvaluator).size() < options_.evaluators) {
    return;
  }
  if (!versions_.empty()) return;  // they are being set up
  for (const std::uint32_t server : servers) {
    wire::Setup setup;
    setup.set_index(members_.at(server).rank);
    setup.set_version(options_.version);
    setup.set_checkpoint(options_.checkpoint);
    send(server, setup);
    versions_[server] = options_.version;
  }
}

const ChiefCore::Actions& ChiefCore::ready(std::uint32_t server) {
  actions_.clear();
  ready_servers_.insert(server);
  if (started_ || ready_servers_.size() < options_.servers) return actions_;
  started_ = true;
  const wire::Plan plan = make_plan(options_.version);
  for (auto& [incarnation, member] : members_) {
    if (member.live && member.role != Role::kServer) begin(member, options_.version, plan);
  }
  if (options_.version >= options_.last_version) {
    finish();
  } else if (options_.mode != Mode::kSync) {
    lease_all();
  }
  return actions_;
}

void ChiefCore::begin(ClusterMember& member, std::uint64_t version, wire::Plan plan) {
  wire::Begin begin;
  for (const auto& [incarnation, server] : members_) {
    if (server.role == Role::kServer) begin.add_servers(server.address);
  }
  begin.set_version(version);
  if (options_.mode == Mode::kSync) *begin.mutable_plan() = std::move(plan);
  member.begun = true;
  send(member.incarnation, begin);
}

const ChiefCore::Actions& ChiefCore::lost(std::uint32_t incarnation, const std::string& reason) {
  actions_.clear();
  const auto found = members_.find(incarnation);
  if (found == members_.end() || !found->second.live) return actions_;
  ClusterMember& member = found->second;
  member.live = false;
  if (finished_) return actions_;
  const std::string what = member.name + " is lost: " + reason;
  if (!started_ && !stopping_) {
    fail(what + ", before the run began");
  } else if (member.role == Role::kServer) {
    stop_reason_ = what + "; its parameters are gone. Go on from the last checkpoint with --resume";
    stop_failed_ = true;
    finish();
  } else if (member.role == Role::kEvaluator && !stopping_) {
    actions_.push_back(Notice{what + "; the run goes on without testing"});
    for (auto& [version, epoch] : std::map(epochs_)) {
      epochs_[version].evaluated = true;
      settle_epoch(version);
    }
  } else if (member.role == Role::kWorker && !stopping_) {
    actions_.push_back(Notice{what});
    lost_worker(incarnation, what);
  } else if (member.role == Role::kWorker) {
    stop_servers_if_quiet();
  }
  return actions_;
}

void ChiefCore::lost_worker(std::uint32_t worker, const std::string& reason) {
  if (live(Role::kWorker).empty()) return fail("no worker is left; " + reason);
  if (options_.mode == Mode::kSync) return start_replan({worker});
  wire::Fence fence;
  fence.add_dead(worker);
  send_all(Role::kServer, fence);
  for (const std::uint64_t step : leased_[worker]) returned_.push_back(step);
  leased_.erase(worker);
  lease_all();
}

// ---- plans (sync) ----------------------------------------------------------------------

wire::Plan ChiefCore::make_plan(std::uint64_t start) {
  Plan plan{replan_ ? replan_->epoch : ++epoch_, start, {}};
  wire::Plan message;
  message.set_epoch(plan.epoch);
  message.set_start(start);
  for (const std::uint32_t worker : live(Role::kWorker)) {
    plan.entries.push_back({worker, 1.0});
    wire::PlanEntry& entry = *message.add_entries();
    entry.set_worker(worker);
    entry.set_weight(1.0);
  }
  last_start_ = start;
  plans_.add(std::move(plan));
  return message;
}

void ChiefCore::start_replan(std::set<std::uint32_t> dead) {
  if (replan_) dead.insert(replan_->dead.begin(), replan_->dead.end());
  replan_ = Replan{++epoch_, std::move(dead), {}, {}};
  wire::Fence fence;
  fence.set_number(replan_->epoch);
  for (const std::uint32_t worker : replan_->dead) fence.add_dead(worker);
  send_all(Role::kServer, fence);
  wire::Prepare prepare;
  prepare.set_epoch(replan_->epoch);
  for (const std::uint32_t worker : live(Role::kWorker)) {
    if (members_.at(worker).begun) send(worker, prepare);
  }
}

const ChiefCore::Actions& ChiefCore::fenced(std::uint32_t server, const wire::Fenced& fenced) {
  actions_.clear();
  if (replan_ && fenced.number() == replan_->epoch) {
    replan_->fenced[server] = fenced;
    finish_replan_if_ready();
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::prepared(std::uint32_t worker,
                                              const wire::Prepared& prepared) {
  actions_.clear();
  if (replan_ && prepared.epoch() == replan_->epoch) {
    replan_->prepared[worker] = prepared.next();
    finish_replan_if_ready();
  }
  return actions_;
}

void ChiefCore::finish_replan_if_ready() {
  if (stopping_) return;
  // Never before the last plan's start: shares of earlier steps have been handed over as
  // the plan before it cut them.
  std::uint64_t start = last_start_;
  std::uint64_t open = options_.last_version;
  for (const std::uint32_t server : live(Role::kServer)) {
    const auto found = replan_->fenced.find(server);
    if (found == replan_->fenced.end()) return;
    start = std::max(start, found->second.untouched());
    open = std::min(open, found->second.open());
  }
  for (const std::uint32_t worker : live(Role::kWorker)) {
    if (!members_.at(worker).begun) continue;
    const auto found = replan_->prepared.find(worker);
    if (found == replan_->prepared.end()) return;
    start = std::max(start, found->second);
  }
  const auto adopted = reassign({open, std::max(open, start)});
  std::map<std::uint64_t, std::uint32_t> cut_by;  // plan epochs of the steps handed over
  for (std::uint64_t step = open; step < start; ++step) {
    const Plan* plan = plans_.in_force(step);
    cut_by[step] = plan != nullptr ? plan->epoch : 0;
  }
  const wire::Plan plan = make_plan(start);
  for (const std::uint32_t worker : live(Role::kWorker)) {
    wire::Plan mine = plan;
    if (const auto found = adopted.find(worker); found != adopted.end()) {
      for (const Share& share : found->second) {
        wire::ShareOf& adopt = *mine.add_adopt();
        adopt.set_step(share.step);
        adopt.mutable_tiles()->set_begin(share.tiles.begin);
        adopt.mutable_tiles()->set_end(share.tiles.end);
        adopt.set_epoch(cut_by.at(share.step));
      }
    }
    ClusterMember& member = members_.at(worker);
    if (member.begun) {
      send(worker, mine);
    } else {
      begin(member, start, mine);
    }
  }
  actions_.push_back(Notice{fmt::format("plan {} from step {} on: {} workers", plan.epoch(), start,
                                        plan.entries_size())});
  replan_.reset();
}

// Whole shares of the dead, in steps that are begun but not complete everywhere, to the
// survivors in turn.
std::map<std::uint32_t, std::vector<Share>> ChiefCore::reassign(Range steps) {
  std::erase_if(assignments_,
                [&](const Assignment& assignment) { return assignment.share.step < steps.begin; });
  std::vector<std::uint32_t> heirs = live(Role::kWorker);
  if (std::any_of(heirs.begin(), heirs.end(),
                  [&](std::uint32_t heir) { return members_.at(heir).begun; })) {
    std::erase_if(heirs, [&](std::uint32_t heir) { return !members_.at(heir).begun; });
  }
  std::map<std::uint32_t, std::vector<Share>> adopted;
  std::size_t turn = 0;
  const auto hand_over = [&](Assignment& assignment) {
    assignment.owner = heirs[turn++ % heirs.size()];
    adopted[assignment.owner].push_back(assignment.share);
  };
  for (Assignment& assignment : assignments_) {
    if (replan_->dead.contains(assignment.owner)) hand_over(assignment);
  }
  for (std::uint64_t step = steps.begin; step < steps.end; ++step) {
    const Plan* plan = plans_.in_force(step);
    for (const std::uint32_t worker : replan_->dead) {
      if (plan == nullptr) continue;
      const Range tiles = plan->tiles_for(worker, options_.grid.tiles(step));
      if (tiles.empty()) continue;
      assignments_.push_back({{step, tiles}, 0});
      hand_over(assignments_.back());
    }
  }
  return adopted;
}

std::string ChiefCore::owners(std::uint64_t step, const std::vector<Range>& missing) const {
  const Plan* plan = plans_.in_force(step);
  if (plan == nullptr) return {};
  const auto overlaps = [&](const Range& tiles) {
    return std::any_of(missing.begin(), missing.end(), [&](const Range& gap) {
      return gap.begin < tiles.end && tiles.begin < gap.end;
    });
  };
  std::vector<std::string> names;
  const auto name = [&](std::uint32_t worker) {
    const ClusterMember* found = member(worker);
    if (found != nullptr) names.push_back(found->name + (found->live ? "" : " (lost)"));
  };
  for (const PlanEntry& entry : plan->entries) {
    const Range tiles = plan->tiles_for(entry.worker, options_.grid.tiles(step));
    if (!overlaps(tiles)) continue;
    const auto heir =
        std::find_if(assignments_.begin(), assignments_.end(), [&](const Assignment& assignment) {
          return assignment.share == Share{step, tiles};
        });
    name(heir != assignments_.end() ? heir->owner : entry.worker);
  }
  return join(names, ", ");
}

// ---- leases (async, ssp) ---------------------------------------------------------------

// Tops up a worker that has little left. Blocks shrink towards the end of the epoch, so
// that all workers finish it together.
void ChiefCore::lease_to(std::uint32_t worker) {
  if (stopping_ || finished_) return;
  std::set<std::uint64_t>& in_hand = leased_[worker];
  const std::uint64_t left = returned_.size() + epoch_end_ - std::min(epoch_end_, next_lease_);
  const std::uint64_t workers = std::max<std::uint64_t>(1, live(Role::kWorker).size());
  const std::uint64_t block =
      std::clamp<std::uint64_t>(left / (2 * workers), 1, options_.lease_block);
  if (in_hand.size() * 2 > block) return;
  wire::Lease lease;
  for (std::uint64_t granted = in_hand.size(); granted < block; ++granted) {
    std::uint64_t step = 0;
    if (!returned_.empty()) {
      step = returned_.back();
      returned_.pop_back();
    } else if (next_lease_ < epoch_end_) {
      step = next_lease_++;
    } else {
      break;
    }
    if (done_.contains(step)) continue;
    in_hand.insert(step);
    wire::Tiles& steps = *lease.add_steps();
    steps.set_begin(step);
    steps.set_end(step + 1);
  }
  if (lease.steps_size() > 0) send(worker, lease);
}

void ChiefCore::lease_all() {
  for (const std::uint32_t worker : live(Role::kWorker)) {
    if (members_.at(worker).begun) lease_to(worker);
  }
}

const ChiefCore::Actions& ChiefCore::committed(std::uint32_t worker,
                                               const wire::Committed& committed) {
  actions_.clear();
  for (const auto& steps : committed.steps()) {
    for (std::uint64_t step = steps.begin(); step < steps.end(); ++step) {
      done_.add(step);
      leased_[worker].erase(step);
      std::erase(returned_, step);
    }
  }
  if (const ClusterMember* sender = member(worker); sender != nullptr && sender->live)
    lease_to(worker);
  cut_if_drained();
  return actions_;
}

// The epoch's leases are all committed and none beyond was given out: the servers stand
// still, so the cut is the same on all of them.
void ChiefCore::cut_if_drained() {
  if (stopping_ || done_.first_missing() < epoch_end_ || epochs_.contains(epoch_end_)) return;
  epochs_[epoch_end_].number = (epoch_end_ - 1) / options_.grid.steps_per_epoch();
  wire::Pin pin;
  pin.set_version(epoch_end_);
  send_all(Role::kServer, pin);
}

// ---- progress --------------------------------------------------------------------------

std::uint64_t ChiefCore::examples_done() const {
  if (options_.mode == Mode::kSync) return options_.grid.examples_before(watermark_);
  std::uint64_t examples = 0;
  for (const Range& range : done_.ranges()) {
    examples +=
        options_.grid.examples_before(range.end) - options_.grid.examples_before(range.begin);
  }
  return examples;
}

const ChiefCore::Actions& ChiefCore::complete(std::uint32_t server,
                                              const wire::Complete& complete) {
  actions_.clear();
  versions_[server] = complete.version();
  watermark_ = complete.version();
  for (const auto& [other, version] : versions_) watermark_ = std::min(watermark_, version);
  if (members_.at(server).rank == 0) {
    actions_.push_back(Progressed{watermark_, examples_done(), complete});
  }
  if (complete.pinned() && !stopping_) epoch_pinned(complete.version(), server);
  return actions_;
}

void ChiefCore::epoch_pinned(std::uint64_t version, std::uint32_t server) {
  Epoch& epoch = epochs_[version];
  epoch.pinned.insert(server);
  if (epoch.announced || epoch.pinned.size() < options_.servers) return;
  epoch.announced = true;
  const std::uint64_t per_epoch = options_.grid.steps_per_epoch();
  epoch.number = (version - 1) / per_epoch;
  actions_.push_back(EpochTrained{epoch.number, version});
  const auto evaluators = live(Role::kEvaluator);
  epoch.evaluated = evaluators.empty();
  if (!evaluators.empty()) {
    wire::Evaluate evaluate;
    evaluate.set_version(version);
    evaluate.set_epoch(epoch.number);
    send(evaluators[epoch.number % evaluators.size()], evaluate);
  }
  const std::uint64_t every = options_.checkpoint_every;
  epoch.saved = version != options_.last_version && (every == 0 || (epoch.number + 1) % every != 0);
  if (!epoch.saved) actions_.push_back(SaveCheckpoint{version, true});
  if (options_.mode != Mode::kSync && version == epoch_end_) {
    epoch_end_ = std::min(options_.last_version, epoch_end_ + per_epoch);
    lease_all();
  }
  settle_epoch(version);
}

void ChiefCore::settle_epoch(std::uint64_t version) {
  const auto found = epochs_.find(version);
  if (found == epochs_.end() || !found->second.announced || !found->second.evaluated ||
      !found->second.saved || stopping_) {
    return;
  }
  epochs_.erase(found);
  wire::Unpin unpin;
  unpin.set_version(version);
  send_all(Role::kServer, unpin);
  if (watermark_ >= options_.last_version && epochs_.empty()) finish();
}

const ChiefCore::Actions& ChiefCore::evaluated(const wire::Evaluated& evaluated) {
  actions_.clear();
  if (const auto found = epochs_.find(evaluated.version()); found != epochs_.end()) {
    found->second.evaluated = true;
    settle_epoch(evaluated.version());
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::saved(std::uint64_t version) {
  actions_.clear();
  last_saved_ = std::max(last_saved_, version);
  if (saving_ == version) {
    finish();
  } else if (const auto found = epochs_.find(version); found != epochs_.end()) {
    found->second.saved = true;
    settle_epoch(version);
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::scalars(std::uint32_t server, const wire::Scalars& scalars) {
  actions_.clear();
  auto& parts = scalars_[scalars.step()];
  parts[server] = scalars;
  if (parts.size() < options_.servers) return actions_;
  wire::Verdict verdict;
  verdict.set_step(scalars.step());
  verdict.set_finite(true);
  for (const auto& [from, part] : parts) {  // in the order of the servers: one rounding
    verdict.set_sum_of_squares(verdict.sum_of_squares() + part.sum_of_squares());
    verdict.set_finite(verdict.finite() && part.finite());
  }
  scalars_.erase(scalars.step());
  send_all(Role::kServer, verdict);
  return actions_;
}

// ---- the end ---------------------------------------------------------------------------

void ChiefCore::fail(const std::string& reason) {
  if (stopping_ || finished_) return;
  stopping_ = true;
  stop_reason_ = reason;
  stop_failed_ = true;
  if (!started_) return finish();
  wire::Stop stop;
  stop.set_reason(reason);
  stop.set_failed(true);
  send_all(Role::kWorker, stop);
  send_all(Role::kServer, stop);
}

const ChiefCore::Actions& ChiefCore::stop(const std::string& reason, bool failed) {
  actions_.clear();
  if (stopping_ || finished_) return actions_;
  if (failed) {
    fail(reason);
    return actions_;
  }
  stopping_ = true;
  stop_reason_ = reason;
  if (!started_) {
    finish();
    return actions_;
  }
  wire::Stop stop;
  stop.set_reason(reason);
  send_all(Role::kWorker, stop);
  stop_servers_if_quiet();
  return actions_;
}

// Synchronous runs abandon the open step at once. Asynchronous ones let every worker
// finish the push it has begun, or the servers would differ.
void ChiefCore::stop_servers_if_quiet() {
  const auto workers = live(Role::kWorker);
  const bool quiet = std::all_of(workers.begin(), workers.end(),
                                 [&](std::uint32_t worker) { return quiet_.contains(worker); });
  if (options_.mode != Mode::kSync && !quiet) return;
  wire::Stop stop;
  stop.set_reason(stop_reason_);
  send_all(Role::kServer, stop);
}

const ChiefCore::Actions& ChiefCore::quiet(std::uint32_t worker) {
  actions_.clear();
  if (quiet_.insert(worker).second && stopping_ && !finished_) stop_servers_if_quiet();
  return actions_;
}

const ChiefCore::Actions& ChiefCore::hurry() {
  actions_.clear();
  wire::Stop stop;
  stop.set_reason(stop_reason_);
  if (stopping_ && stopped_.empty()) send_all(Role::kServer, stop);
  return actions_;
}

const ChiefCore::Actions& ChiefCore::stopped(std::uint32_t server, const wire::Stopped& stopped) {
  actions_.clear();
  if (finished_) return actions_;
  stopped_[server] = stopped;
  if (stopped_.size() == options_.servers) save_stopped_version();
  return actions_;
}

// The highest version that is complete on every server; each still has it, since it keeps
// the one before its own.
void ChiefCore::save_stopped_version() {
  const wire::Stopped& first = stopped_.begin()->second;
  std::uint64_t version = first.version();
  bool even = true;
  const auto same = [](const wire::Tiles& a, const wire::Tiles& b) {
    return a.begin() == b.begin() && a.end() == b.end();
  };
  for (const auto& [server, other] : stopped_) {
    version = std::min(version, other.version());
    even = even && other.even() &&
           std::equal(first.applied().begin(), first.applied().end(), other.applied().begin(),
                      other.applied().end(), same);
  }
  if (options_.mode != Mode::kSync && !even) {
    actions_.push_back(
        Notice{"a push was cut short, so the servers differ; the last checkpoint "
               "is the one of version " +
               std::to_string(last_saved_)});
    return finish();
  }
  if (options_.mode != Mode::kSync) {
    done_ = RangeSet();
    for (const auto& steps : first.applied()) {
      for (std::uint64_t step = steps.begin(); step < steps.end(); ++step) done_.add(step);
    }
  }
  watermark_ = version;
  if (version == last_saved_) return finish();
  saving_ = version;
  const bool complete_epoch =
      version % options_.grid.steps_per_epoch() == 0 && done_.ranges().size() <= 1;
  actions_.push_back(SaveCheckpoint{version, complete_epoch});
}

void ChiefCore::finish() {
  if (finished_) return;
  finished_ = true;
  for (const Role role : {Role::kWorker, Role::kEvaluator, Role::kServer}) {
    send_all(role, wire::Goodbye());
  }
  actions_.push_back(RunEnded{stop_failed_ ? stop_reason_ : "", stopping_ && !stop_failed_});
}

}  // namespace paceline

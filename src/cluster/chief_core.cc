#include "cluster/chief_core.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "net/frame.h"

namespace paceline {

namespace {

RangeSet done_at_start(const ChiefCore::Options& options) {
  RangeSet done = options.applied;
  if (done.size() == 0) done.add_below(options.version);
  return done;
}

}  // namespace

ChiefCore::ChiefCore(const Options& options)
    : options_(options),
      watermark_(options.version),
      owners_(options.grid),
      leases_(options.grid, done_at_start(options), options.last_version, options.lease_block),
      last_saved_(options.version) {}

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

std::vector<wire::ServerAt> ChiefCore::servers() const {
  std::vector<wire::ServerAt> servers;
  for (const auto& [incarnation, member] : members_) {
    if (member.role != Role::kServer || !member.live) continue;
    servers.emplace_back().set_name(member.name);
    servers.back().set_address(member.address);
  }
  return servers;
}

const ClusterMember* ChiefCore::member(std::uint32_t incarnation) const {
  const auto found = members_.find(incarnation);
  return found == members_.end() ? nullptr : &found->second;
}

std::string ChiefCore::unwelcome(Role role) const {
  if (role == Role::kServer && heir_ != 0 && live(role).empty() && !finished_) return {};
  if (stopping_ || finished_) return "the run is ending";
  if (role == Role::kServer && live(role).size() >= options_.servers) {
    return "the run has all its servers";
  }
  if (role == Role::kWorker && options_.ring && live(role).size() >= options_.workers) {
    return "the run has all its workers";
  }
  if (role == Role::kEvaluator && live(role).size() >= options_.evaluators) {
    return "the run has all its evaluators";
  }
  return {};
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
  } else if (role == Role::kServer) {
    begin_with_heir(incarnation);
  } else if (role == Role::kWorker && !stopping_ && !finished_) {
    actions_.push_back(Notice{name + " joins"});
    if (options_.mode == Mode::kSync) {
      start_reassignment({});
    } else {
      begin(members_.at(incarnation), watermark_, {});
      lease_to(incarnation);
      if (all_leased_and_done()) send(incarnation, wire::Stop());
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
    send(server, setup);
    versions_[server] = options_.version;
  }
}

const ChiefCore::Actions& ChiefCore::ready(std::uint32_t server) {
  actions_.clear();
  expect_server(server);
  ready_servers_.insert(server);
  if (started_ || ready_servers_.size() < options_.servers) return actions_;
  started_ = true;
  const wire::Assignment assignment = make_assignment(options_.version);
  for (auto& [incarnation, member] : members_) {
    if (member.live && member.role != Role::kServer) begin(member, options_.version, assignment);
  }
  if (options_.version >= options_.last_version) {
    finish();
  } else if (options_.mode != Mode::kSync) {
    lease_all();
  }
  return actions_;
}

void ChiefCore::begin(ClusterMember& member, std::uint64_t version, wire::Assignment assignment) {
  wire::Begin begin;
  for (const wire::ServerAt& server : servers()) *begin.add_servers() = server;
  begin.set_version(version);
  if (options_.mode == Mode::kSync) *begin.mutable_assignment() = std::move(assignment);
  member.begun = true;
  send(member.incarnation, begin);
}

// ---- leases (async, ssp) ---------------------------------------------------------------

void ChiefCore::lease_to(std::uint32_t worker) {
  if (stopping_ || finished_) return;
  wire::Lease lease;
  for (const std::uint64_t step : leases_.grant(worker, live(Role::kWorker).size())) {
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
  expect(worker, Role::kWorker);
  for (const auto& steps : committed.steps()) expect_steps(steps);
  for (const auto& steps : committed.steps()) {
    for (std::uint64_t step = steps.begin(); step < steps.end(); ++step) {
      leases_.commit(worker, step);
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
  const std::uint64_t end = leases_.epoch_end();
  if (stopping_ || !leases_.drained() || epochs_.contains(end)) return;
  epochs_[end].number = (end - 1) / options_.grid.steps_per_epoch();
  wire::Pin pin;
  pin.set_version(end);
  send_all(Role::kServer, pin);
  if (all_leased_and_done()) send_all(Role::kWorker, wire::Stop());  // they cannot know
}

bool ChiefCore::all_leased_and_done() const {
  return options_.mode != Mode::kSync && leases_.epoch_end() == options_.last_version &&
         leases_.drained();
}

// As far as is known: servers may be further than they have told.
bool ChiefCore::all_steps_done() const {
  return options_.mode == Mode::kSync && watermark_ >= options_.last_version;
}

// ---- progress --------------------------------------------------------------------------

std::uint64_t ChiefCore::examples_done() const {
  if (options_.mode == Mode::kSync) return options_.grid.examples_before(watermark_);
  return leases_.examples_done();
}

const ChiefCore::Actions& ChiefCore::complete(std::uint32_t server,
                                              const wire::Complete& complete) {
  actions_.clear();
  expect_server(server);
  expect_reached(complete.version());
  if (complete.pinned() && complete.version() == 0) throw FrameError("no epoch ends with nothing");
  versions_[server] = complete.version();
  watermark_ = complete.version();
  for (const auto& [other, version] : versions_) watermark_ = std::min(watermark_, version);
  if (heir_ != 0 && !stopping_ && complete.version() < options_.last_version) {
    end_early(CommError("{} holds version {}: the last step is lost", members_.at(server).name,
                        complete.version()));
    return actions_;
  }
  // Of a ring whoever keeps versions; what one pins again in another's place was told before.
  const bool again = complete.pinned() && complete.version() <= told_epoch_;
  if (options_.ring ? !again : members_.at(server).rank == 0) {
    if (complete.pinned()) told_epoch_ = complete.version();
    actions_.push_back(Progressed{watermark_, examples_done(), complete});
  }
  // Of a broken ring only what may mend it: all else its keeper tells when it has stopped.
  const bool mends = broken_ && complete.version() == options_.last_version;
  const bool counts = !stopping_ || mends || diverged();
  if (complete.pinned() && counts) epoch_pinned(complete.version(), server);
  return actions_;
}

void ChiefCore::epoch_pinned(std::uint64_t version, std::uint32_t server) {
  Epoch& epoch = epochs_[version];
  epoch.pinned.insert(server);
  if (epoch.announced || epoch.pinned.size() < options_.servers) return;
  epoch.announced = true;
  epoch.number = (version - 1) / options_.grid.steps_per_epoch();
  actions_.push_back(EpochTrained{epoch.number, version});
  auto evaluators = live(Role::kEvaluator);
  std::erase_if(evaluators, [&](std::uint32_t one) { return !members_.at(one).begun; });
  if (epoch.evaluated) {
    // by what was read before its keeper was lost
  } else if (evaluators.empty()) {
    epoch.evaluated = true;
    actions_.push_back(EpochUntested{epoch.number, version});
  } else {
    wire::Evaluate evaluate;
    evaluate.set_version(version);
    evaluate.set_epoch(epoch.number);
    send(evaluators[epoch.number % evaluators.size()], evaluate);
  }
  const std::uint64_t every = options_.checkpoint_every;
  epoch.saved = epoch.saved || (version != options_.last_version &&
                                (every == 0 || (epoch.number + 1) % every != 0));
  if (!epoch.saved) actions_.push_back(SaveCheckpoint{version, true});
  open_next_epoch();
  settle_epoch(version);
}

// Async: once the epoch is cut, unless too many before it are still held.
void ChiefCore::open_next_epoch() {
  if (options_.mode == Mode::kSync || epochs_.size() >= options_.most_pins) return;
  const auto cut = epochs_.find(leases_.epoch_end());
  const bool settled = cut == epochs_.end() && leases_.drained();
  if (leases_.epoch_end() == options_.last_version || stopping_) return;
  if (!settled && (cut == epochs_.end() || !cut->second.announced)) return;
  leases_.next_epoch();
  lease_all();
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
  open_next_epoch();
  finish_if_done();
}

// Asynchronous workers test what they hold at the end, and are waited for.
void ChiefCore::finish_if_done() {
  if (stopping_ || watermark_ < options_.last_version || !epochs_.empty()) return;
  if (options_.mode == Mode::kSync || all_quiet()) finish();
}

bool ChiefCore::awaits_test(std::uint64_t version) const {
  const auto found = epochs_.find(version);
  return found != epochs_.end() && !found->second.evaluated;
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
    finish_if_diverged();
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::save_failed(std::uint64_t version, const Error& failure) {
  actions_.clear();
  if (const auto found = epochs_.find(version); found != epochs_.end()) {
    found->second.saved = true;  // it is not tried again
  }
  if (saving_ == version) {  // the last one: there is nothing more to try
    failure_ = failure;
    finish();
  } else {
    end_early(failure);
    finish_if_diverged();
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::scalars(std::uint32_t server, const wire::Scalars& scalars) {
  actions_.clear();
  expect_server(server);
  expect_reached(scalars.step());
  auto& parts = scalars_[scalars.step()];
  parts[server] = scalars;
  if (parts.size() < options_.servers) return actions_;
  wire::Decision decision;
  decision.set_step(scalars.step());
  decision.set_finite(true);
  for (const auto& [from, part] : parts) {  // in the order of the servers: one rounding
    decision.set_sum_of_squares(decision.sum_of_squares() + part.sum_of_squares());
    decision.set_finite(decision.finite() && part.finite());
  }
  scalars_.erase(scalars.step());
  send_all(Role::kServer, decision);
  return actions_;
}

}  // namespace paceline

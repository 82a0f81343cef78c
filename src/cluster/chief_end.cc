// How ChiefCore ends a run: at its end, when someone asks, or with a failure.
#include <algorithm>

#include "base/text.h"
#include "cluster/chief_core.h"
#include "session/failure.h"

namespace paceline {

const ChiefCore::Actions& ChiefCore::stop() {
  actions_.clear();
  end_as_asked();
  return actions_;
}

void ChiefCore::end_as_asked() {
  broken_ = false;
  if (stopping_ || finished_) return;
  stopping_ = true;
  if (!started_) return finish();
  send_all(Role::kWorker, stop_message());
  stop_servers_if_quiet();
}

const ChiefCore::Actions& ChiefCore::fail(const Error& failure) {
  actions_.clear();
  if (broken_ && failure_) failure_->add_remark(fmt::format(". Then: {}", failure.what()));
  end_early(failure);
  return actions_;
}

// With a failure: workers are not waited for.
void ChiefCore::end_early(const Error& failure) {
  broken_ = false;
  if (stopping_ || finished_) return;
  stopping_ = true;
  failure_ = failure;
  if (!started_) return finish();
  send_all(Role::kWorker, stop_message());
  stop_servers();
}

wire::Stop ChiefCore::stop_message() const {
  wire::Stop stop;
  stop.set_early(stopping_ || failure_);
  if (failure_) *stop.mutable_failure() = failure_of(*failure_);
  return stop;
}

void ChiefCore::stop_servers() {
  if (std::exchange(servers_told_, true)) return;
  send_all(Role::kServer, stop_message());
  // In a ring that nobody is left of, nobody would answer.
  if (live(Role::kServer).empty() && live(Role::kWorker).empty()) finish();
}

// Synchronous runs abandon the open step at once. Asynchronous ones let every worker
// finish the push it has begun, or the servers would differ.
void ChiefCore::stop_servers_if_quiet() {
  if (options_.mode == Mode::kSync || all_quiet()) stop_servers();
}

bool ChiefCore::all_quiet() const {
  const auto workers = live(Role::kWorker);
  return std::all_of(workers.begin(), workers.end(),
                     [&](std::uint32_t worker) { return quiet_.contains(worker); });
}

const ChiefCore::Actions& ChiefCore::quiet(std::uint32_t worker) {
  actions_.clear();
  if (!quiet_.insert(worker).second || finished_) return actions_;
  if (stopping_) {
    stop_servers_if_quiet();
  } else if (all_leased_and_done()) {
    finish_if_done();
  }
  return actions_;
}

const ChiefCore::Actions& ChiefCore::hurry() {
  actions_.clear();
  if (!stopping_ || finished_ || saving_) return actions_;
  if (diverged() && stopped_.size() == options_.servers)
    return actions_;  // an epoch is being saved
  if (!servers_told_) {
    stop_servers();
    return actions_;
  }
  actions_.push_back(
      Notice{fmt::format("{} does not say where it stopped; the last checkpoint is that of version "
                         "{}",
                         waited_for(), last_saved_),
             true});
  finish();
  return actions_;
}

std::string ChiefCore::waited_for() const {
  std::vector<std::string> names;
  for (const std::uint32_t worker : live(Role::kWorker)) {
    if (!servers_told_ && !quiet_.contains(worker)) names.push_back(members_.at(worker).name);
  }
  for (const std::uint32_t server : live(Role::kServer)) {
    if (servers_told_ && !stopped_.contains(server)) names.push_back(members_.at(server).name);
  }
  if (heir_ != 0 && members_.at(heir_).live && live(Role::kServer).empty()) {
    names.push_back(members_.at(heir_).name);
  }
  return names.empty() ? "the checkpoint" : join(names, ", ");
}

const ChiefCore::Actions& ChiefCore::stopped(std::uint32_t server, const wire::Stopped& stopped) {
  actions_.clear();
  expect_server(server);
  expect_reached(stopped.version());
  for (const auto& steps : stopped.applied()) expect_steps(steps);
  if (!servers_told_) throw FrameError("a server stops that nobody has asked to");
  if (finished_ || saving_) return actions_;
  stopped_[server] = stopped;
  if (stopped_.size() < options_.servers) return actions_;
  if (diverged()) {
    finish_if_diverged();
  } else {
    save_stopped_version();
  }
  return actions_;
}

// The version that the servers stopped at leads nowhere; those of epochs are saved as ever.
void ChiefCore::finish_if_diverged() {
  const bool all_saved = std::ranges::none_of(
      epochs_, [](const auto& entry) { return entry.second.announced && !entry.second.saved; });
  if (!diverged() || stopped_.size() < options_.servers || !all_saved) return;
  for (const auto& [server, stopped] : stopped_) versions_[server] = stopped.version();
  const auto version_of = [](const auto& entry) { return entry.second; };
  watermark_ = version_of(*std::ranges::min_element(versions_, {}, version_of));
  finish();
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
                   std::to_string(last_saved_),
               true});
    return finish();
  }
  if (options_.mode != Mode::kSync) {
    RangeSet done;
    for (const auto& steps : first.applied()) {
      for (std::uint64_t step = steps.begin(); step < steps.end(); ++step) done.add(step);
    }
    leases_.replace_done(std::move(done));
  }
  watermark_ = version;
  if (broken_ && version == options_.last_version) return go_on_to_last_test();
  if (version == last_saved_) return finish();
  saving_ = version;
  const bool complete_epoch =
      version % options_.grid.steps_per_epoch() == 0 && leases_.done().ranges().size() <= 1;
  actions_.push_back(SaveCheckpoint{version, complete_epoch});
}

void ChiefCore::finish() {
  if (finished_) return;
  finished_ = true;
  for (const Role role : {Role::kWorker, Role::kEvaluator, Role::kServer}) {
    send_all(role, wire::Goodbye());
  }
  actions_.push_back(RunEnded{failure_, stopping_ && !failure_});
}

}  // namespace paceline

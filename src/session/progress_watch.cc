#include "session/progress_watch.h"

#include <algorithm>
#include <utility>

namespace paceline {
namespace {

// Of a core: less is what a thread uses that only looks whether it may go on.
constexpr double kBusyShare = 0.05;

bool is_blamed(wire::Activity::Kind kind) {
  return kind == wire::Activity::BUSY || kind == wire::Activity::SERVING;
}

}  // namespace

void ProgressWatch::heard(std::uint32_t member, const wire::Heartbeat& beat, TimePoint now) {
  const std::uint64_t bytes = beat.bytes_in() + beat.bytes_out() + beat.moved();
  const auto [moved, first] = moved_.try_emplace(member, bytes);
  if (!first && std::exchange(moved->second, bytes) != bytes) got_on_ = now;
  std::erase_if(threads_, [&](const auto& entry) {
    return entry.first.first == member &&
           std::ranges::none_of(beat.activities(), [&](const wire::Activity& state) {
             return state.thread() == entry.first.second;
           });
  });
  for (const wire::Activity& state : beat.activities()) {
    const auto [found, is_new] =
        threads_.try_emplace({member, state.thread()}, Thread{state, state, now});
    Thread& thread = found->second;
    thread.state = state;
    const bool counted = is_new || state.done() != thread.last.done();
    const double used = state.cpu_seconds() - thread.last.cpu_seconds();
    const bool computed =
        is_blamed(state.kind()) && used > 0 && used >= kBusyShare * seconds(now - thread.got_on);
    if (!counted && !computed) continue;
    thread.last = state;
    thread.got_on = now;
    // Turns of a thread that serves show that it lives, not that the run gets on.
    if (computed || state.kind() != wire::Activity::SERVING) got_on_ = now;
  }
}

void ProgressWatch::forget(std::uint32_t member) {
  moved_.erase(member);
  std::erase_if(threads_, [&](const auto& entry) { return entry.first.first == member; });
}

void ProgressWatch::forgive(TimePoint now) {
  got_on_ = now;
  for (auto& [name, thread] : threads_) thread.got_on = now;
}

std::vector<ProgressWatch::Stuck> ProgressWatch::stuck(TimePoint now) const {
  std::vector<Stuck> found;
  for (const auto& [name, thread] : threads_) {
    const Duration still = now - thread.got_on;
    if (!is_blamed(thread.state.kind()) || still < deadline_) continue;
    if (!found.empty() && found.back().member == name.first) continue;
    found.push_back({name.first, thread.state.doing(), still});
  }
  return found;
}

}  // namespace paceline

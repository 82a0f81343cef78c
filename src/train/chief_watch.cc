// How the chief looks after its members: who is silent, who hangs, whether the run gets on.
#include "base/units.h"
#include "session/member.h"
#include "train/chief.h"
#include "train/latecomers.h"

namespace paceline {
namespace {

// Roles do so in the breath in which they connect.
constexpr Duration kTimeToRegister = std::chrono::seconds(10);

}  // namespace

void Chief::look_after_members() {
  const TimePoint now = Clock::now();
  // Then it was this process that did not run.
  const bool slept = now - std::exchange(looked_, now) > role_.config.member_timeout / 2;
  if (slept) {
    opened_ = progressed_ = now;
    watch_.forgive(now);
  }
  for (const auto& line : std::vector(lines_)) {
    if (slept) line->heard = line->opened = now;
    line->expect_registered(now, kTimeToRegister);
    const ClusterMember* member = core_->member(line->incarnation);
    if (member == nullptr || !member->live) continue;
    const Duration silence = now - line->heard;
    if (silence < role_.config.member_timeout) continue;
    drop(*line,
         fmt::format("nothing heard from it for {} (--member-timeout)", format_duration(silence)));
  }
}

void Chief::drop(MemberLine& line, const std::string& reason) {
  line.close(reason);
  lost(line, CommError("{}", reason));
}

// Their heartbeats come, perhaps, but they do nothing that others wait for.
void Chief::drop_stuck_members() {
  const TimePoint now = Clock::now();
  if (saver_) watch_.heard(0, saver_->beat(), now);
  for (const ProgressWatch::Stuck& stuck : watch_.stuck(now)) {
    watch_.forget(stuck.member);
    const std::string reason = fmt::format("no progress for {} (--deadline) while {}",
                                           format_duration(stuck.still), stuck.doing);
    if (stuck.member == 0) {
      give_up_saving(DataError("{}", reason));
      continue;
    }
    for (const auto& line : std::vector(lines_)) {
      if (line->incarnation == stuck.member && !ended_) drop(*line, reason);
    }
  }
}

void Chief::give_up_saving(const Error& reason) {
  saver_->give_up();
  for (const std::uint64_t version : saver_->unfinished()) save_failed(version, reason);
}

// Everyone is alive, but steps do not end: that is said out loud, with who owes what. When nobody
// gets on at all, the run is ended.
void Chief::look_for_stalls() {
  const TimePoint now = Clock::now();
  if (!stall_told_ && now - progressed_ >= role_.config.deadline / 4) {
    stall_told_ = true;
    warn_of_stall(now - progressed_);
  }
  const Duration still = watch_.still(now);
  if (still < role_.config.deadline) return;
  watch_.got_on(now);  // what follows has as long again
  if (core_->stopping()) return carry_out(core_->hurry());
  carry_out(core_->fail(
      CommError("nobody has made any progress for {} at step {}{}{}. If these roles are "
                "only slow, raise --deadline",
                format_duration(still), core_->watermark(), waits(), silences())));
}

void Chief::warn_of_stall(Duration still) {
  if (core_->watermark() >= workload_.last_version) {
    return record_.warning(
        fmt::format("all steps are done; testing and saving the last version "
                    "has taken {} so far{}{}",
                    format_duration(still), waits(), silences()));
  }
  const std::string owing = core_->owners(core_->watermark(), missing_);
  record_.warning(fmt::format(
      "no step was completed for {} at step {}{}{}{}", format_duration(still), core_->watermark(),
      owing.empty() ? "" : ": contributions are missing from " + owing, waits(), silences()));
}

// What members do that may keep others waiting, and what they wait for.
std::string Chief::waits() const {
  std::string text;
  for (const auto& line : lines_) {
    const ClusterMember* member = core_->member(line->incarnation);
    if (member == nullptr || !member->live) continue;
    if (!line->figures.waiting().empty()) {
      text += fmt::format("; {} waits for {}, for {:.0f} s", member->name, line->figures.waiting(),
                          line->figures.waiting_seconds());
      continue;
    }
    for (const wire::Activity& activity : line->figures.activities()) {
      if (activity.kind() == wire::Activity::SERVING || activity.doing().empty()) continue;
      text += fmt::format("; {} is {}", member->name, activity.doing());
    }
  }
  return text;
}

void Chief::look_for_latecomers() {
  if (Clock::now() - opened_ < role_.config.start_timeout) return;
  // Servers of large models may still be setting them up; they are heard.
  const std::string missing = missing_roles(role_.config, core_->members());
  if (missing.empty()) return;
  carry_out(core_->fail(
      CommError("after {} these roles have not registered: {}. See their logs, or raise "
                "--start-timeout",
                format_duration(role_.config.start_timeout), missing)));
}

// Members that have missed some heartbeats.
std::string Chief::silences() const {
  const Duration usual = std::max<Duration>(4 * role_.config.heartbeat, std::chrono::seconds(1));
  std::string text;
  for (const auto& line : lines_) {
    const ClusterMember* member = core_->member(line->incarnation);
    const Duration silence = Clock::now() - line->heard;
    if (member == nullptr || !member->live || line->goodbye || silence < usual) continue;
    text += fmt::format("; nothing heard from {} for {}", member->name, format_duration(silence));
  }
  return text;
}

}  // namespace paceline

#include "train/member.h"

#include <algorithm>
#include <csignal>

#include "base/error.h"
#include "base/process.h"
#include "base/signals.h"
#include "exchange/parsed.h"
#include "train/parts.h"

namespace paceline {
namespace {

// For the chief to find that a server is gone: its line to it ends at the same time as ours, and
// it may be a while until it runs.
constexpr Duration kChiefsTurn = std::chrono::seconds(2);

}  // namespace

ChiefLineOptions line_options(const RoleContext& role, const std::string& kind,
                              const std::string& address) {
  ChiefLineOptions options;
  options.chief = role.chief;
  options.run = run_id(role.digest);
  options.digest = role.digest;
  options.role = kind;
  options.name = role.name;
  options.address = address;
  options.heartbeat = role.config.heartbeat;
  options.deadline = role.config.start_timeout;
  options.silence = role.config.member_timeout;
  return options;
}

PsAddress ps_address(const RoleContext& role, const std::string& kind,
                     std::vector<wire::ServerAt> servers, std::uint32_t incarnation) {
  return {std::move(servers), run_id(role.digest), role.digest, kind, role.name, incarnation};
}

ChiefWord stop_word(const Error& error) {
  wire::Stop stop;
  stop.set_reason(error.what());
  stop.set_failed(true);
  stop.set_exit_code(static_cast<std::uint32_t>(error.code()));
  return {wire::STOP, stop.SerializeAsString()};
}

wire::Heartbeat figures(const LinkCounters& counters) {
  const Usage usage = usage_of_this_process();
  wire::Heartbeat beat;
  beat.set_cpu_seconds(usage.cpu_seconds);
  beat.set_peak_rss_bytes(usage.peak_rss_bytes);
  beat.set_bytes_in(counters.bytes_in);
  beat.set_bytes_out(counters.bytes_out);
  return beat;
}

void UnreadableFiles::tell(google::protobuf::RepeatedPtrField<std::string>& names) {
  constexpr std::size_t kMost = 1000;
  const auto files = dataset_.unreadable();
  const std::size_t end = std::min(files.size(), told_ + kMost);
  for (; told_ < end; ++told_) names.Add(std::string(files[told_]));
}

void add_figures(const LoopCounts& counts, wire::Heartbeat& beat) {
  beat.set_examples(counts.examples);
  for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    beat.add_phase_seconds(counts.times.seconds(static_cast<Phase>(phase)));
  }
  beat.set_step_seconds(counts.times.median_step());
}

Member::Member(const RoleContext& role, const std::string& kind, Told told,
               std::function<wire::Heartbeat()> beat, std::function<void(const std::string&)> lost)
    : loop_(Duration::zero()) {
  ChiefLine::Events events;
  events.told = [this, told = std::move(told)](wire::Type type, std::string_view meta) {
    if (!told(type, meta)) queue({type, std::string(meta)});
  };
  events.lost = [this, lost = std::move(lost)](const std::string& reason) {
    const std::string sentence = "the chief is gone: " + reason;
    lost(sentence);
    const std::lock_guard lock(mutex_);
    lost_ = sentence;
    changed_.notify_all();
  };
  events.beat = std::move(beat);
  line_ = std::make_unique<ChiefLine>(loop_, line_options(role, kind, ""), std::move(events));
  thread_ = std::thread([this] {
    line_->start();
    loop_.run();
  });
}

Member::~Member() {
  loop_.stop();
  thread_.join();
  line_.reset();
}

void Member::queue(ChiefWord word) {
  const std::lock_guard lock(mutex_);
  words_.push_back(std::move(word));
  changed_.notify_all();
}

void Member::tell(wire::Type type, const google::protobuf::Message& message) {
  line_->tell({type, message.SerializeAsString()});
}

void Member::beat() {
  loop_.post([this] { line_->beat(); });
}

ChiefWord Member::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !words_.empty() || lost_ || interrupted_; });
  if (interrupted_) throw Interrupted("interrupted");
  if (words_.empty()) throw CommError("{}", *lost_);
  ChiefWord word = std::move(words_.front());
  words_.pop_front();
  return word;
}

std::optional<std::string> Member::lost() {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void Member::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

void Member::leave(const std::string& error) {
  loop_.post([this, error] { line_->goodbye(error); });
  const TimePoint deadline = Clock::now() + std::chrono::milliseconds(500);
  std::unique_lock lock(mutex_);
  while (!left_ && Clock::now() < deadline) {
    loop_.post([this] {
      const std::lock_guard inner(mutex_);
      left_ = line_->closed();
      changed_.notify_all();
    });
    changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
}

// Or has lost the chief, or is to end for another reason.
bool Member::is_dismissed_within(Duration patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] {
    return lost_ || interrupted_ ||
           std::ranges::find(words_, wire::GOODBYE, &ChiefWord::type) != words_.end();
  });
}

void Member::leave_without(const ServerLost& error) {
  leave(is_dismissed_within(kChiefsTurn) ? "" : error.what());
}

void work_for_chief(Member& member, const std::function<void(const std::string&)>& abort,
                    const std::function<void(const wire::Begin&)>& train) {
  const SignalWatcher signals({SIGTERM}, [&](int) {
    abort("interrupted");
    member.interrupt();
  });
  try {
    const ChiefWord word = member.next();
    if (word.type == wire::BEGIN) {
      train(parsed<wire::Begin>(word.meta));
      member.beat();
      while (member.next().type != wire::GOODBYE) {
      }
    }
    member.leave("");
  } catch (const Interrupted&) {
    throw;
  } catch (const ServerLost& error) {
    member.leave_without(error);
    throw;
  } catch (const CommError& error) {
    member.leave(error.what());
    throw;
  } catch (const Error& error) {  // another worker would fail just so
    member.tell(stop_word(error));
    member.leave(error.what());
    throw;
  }
}

}  // namespace paceline

#include "session/member.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/error.h"
#include "base/signals.h"
#include "base/threads.h"
#include "session/failure.h"
#include "session/message.h"

namespace paceline {
namespace {

// For the chief to find that a server is gone: its line to it ends at the same time as ours, and
// it may be a while until it runs.
constexpr Duration kChiefsTurn = std::chrono::seconds(2);

// For the other threads of a role to end when the chief is gone.
constexpr Duration kTimeToEnd = std::chrono::seconds(5);

// Without the help of threads that hang, perhaps with locks in their hands.
[[noreturn]] void end_process(const std::string& words, int fd, const std::string& line) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
  tell_failure(fd, line);
  std::_Exit(static_cast<int>(ExitCode::kCommunication));
}

// Another worker in this one's place would fail just so, unless it is a line of this one that has
// ended, or somebody has asked this one to stop.
bool would_hit_others(const Error& error) {
  return error.code() != ExitCode::kCommunication && error.code() != ExitCode::kInterrupted;
}

void await_goodbye(Member& member, const WorkerLife& life) {
  for (ChiefWord word = member.next(); word.type != wire::GOODBYE; word = member.next()) {
    if (life.afterwards) life.afterwards(word);
  }
}

}  // namespace

Member::Member(const ChiefLineOptions& options, Events events) : loop_(Duration::zero()) {
  ChiefLine::Events line;
  line.told = [this, told = std::move(events.told)](wire::Type type, std::string_view meta) {
    if (!told(type, meta)) queue({type, std::string(meta)});
  };
  line.lost = [this, fd = options.failure_fd,
               lost = std::move(events.lost)](const std::string& reason) {
    const CommError gone("the chief is gone: {}", reason);
    lost(gone);
    const std::string words = fmt::format("paceline: {}\n", gone.what());
    end_ = loop_.after(kTimeToEnd,
                       [words, fd, line = failure_line(gone)] { end_process(words, fd, line); });
    const std::lock_guard lock(mutex_);
    lost_ = gone;
    changed_.notify_all();
  };
  line.beat = std::move(events.beat);
  line_ = std::make_unique<ChiefLine>(loop_, options, std::move(line));
  thread_ = std::thread([this] {
    name_this_thread("chief line");
    line_->start();
    loop_.run();
  });
}

Member::~Member() {
  loop_.stop();
  thread_.join();
  end_.reset();
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
  if (words_.empty()) throw CommError(*lost_);
  ChiefWord word = std::move(words_.front());
  words_.pop_front();
  return word;
}

std::optional<CommError> Member::lost() {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void Member::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

void Member::leave(const std::optional<Error>& failure) {
  loop_.post([this, failure] { line_->goodbye(failure); });
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
  is_dismissed_within(kChiefsTurn) ? leave() : leave(error);
}

void work_for_chief(Member& member, const WorkerLife& life) {
  const SignalWatcher signals({SIGTERM}, [&](int) {
    if (life.stays) return member.tell(stop_word(Interrupted("interrupted")));
    life.abort(Interrupted("interrupted"));
    member.interrupt();
  });
  try {
    const ChiefWord word = member.next();
    if (word.type == wire::BEGIN) {
      life.train(parsed<wire::Begin>(word.meta));
      member.beat();
      await_goodbye(member, life);
    }
    member.leave();
  } catch (const ServerLost& error) {
    member.leave_without(error);
    throw;
  } catch (const std::exception&) {
    const Error error = current_error();
    if (would_hit_others(error)) {
      member.tell(stop_word(error));
      if (life.stays) await_goodbye(member, life);
    }
    member.leave(error);
    throw;
  }
}

}  // namespace paceline

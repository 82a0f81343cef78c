// What all roles but the chief have in common: a thread that talks with the chief while
// another works.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "session/chief_line.h"
#include "session/identity.h"
#include "session/message.h"

namespace paceline {

// The chief's line on a thread of its own. Messages are handed to `told` there, those it
// does not take (returns false) wait for next(). Members are usable from any thread.
//
// When the chief is gone or has dropped this role, `lost` is called; the process that has not ended
// a few seconds later, because its other threads hang, is ended, and tells whoever started it why.
class Member {
 public:
  using Told = std::function<bool(wire::Type, std::string_view)>;
  struct Events {
    Told told;
    std::function<wire::Heartbeat()> beat;
    std::function<void(const CommError&)> lost;
  };
  Member(const ChiefLineOptions& options, Events events);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  std::uint32_t incarnation() const { return line_->incarnation(); }
  std::uint32_t rank() const { return line_->rank(); }
  void tell(wire::Type type, const google::protobuf::Message& message);
  void tell(ChiefWord word) { line_->tell(std::move(word)); }
  void beat();  // now

  // The next message that was not taken, waiting for it; GOODBYE is the last. Throws
  // CommError when the chief is lost, Interrupted on SIGTERM.
  ChiefWord next();
  void interrupt();                 // from a signal
  std::optional<CommError> lost();  // why the chief is gone, if it is

  // Says goodbye, and why if it is before its time; waits, briefly, until it is out.
  void leave(const std::optional<Error>& failure = std::nullopt);
  // The same when a server is gone. If the chief finds that, too, it ends the run and says why:
  // what this role has seen then stays in its own log.
  void leave_without(const ServerLost& error);

 private:
  void queue(ChiefWord word);
  bool is_dismissed_within(Duration patience);

  Loop loop_;
  std::unique_ptr<ChiefLine> line_;
  Loop::Token end_;  // that comes if the other threads hang
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ChiefWord> words_;
  std::optional<CommError> lost_;
  bool interrupted_ = false;
  bool left_ = false;
  std::thread thread_;
};

// A worker's life: waits for BEGIN, trains, waits for GOODBYE and leaves. The chief hears why a
// worker ends before its time.
struct WorkerLife {
  std::function<void(const wire::Begin&)> train;
  // Makes train() end soon, by throwing this Error or another with its exit code.
  std::function<void(const Error&)> abort;
  // Gets what else the chief says when training is over.
  std::function<void(const ChiefWord&)> afterwards{};
  // Whether others need what it holds to the end of the run. Then SIGTERM asks the chief to end the
  // run, and who cannot go on still waits for GOODBYE; else SIGTERM aborts, and it leaves at once.
  bool stays = false;
};
void work_for_chief(Member& member, const WorkerLife& life);

}  // namespace paceline

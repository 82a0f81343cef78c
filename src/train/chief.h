// The chief of a run: carries out what its state machine decides, over links; writes
// metrics, checkpoints and the summary; tells the launcher what happens.
//
// One thread runs the loop. Checkpoints are read from the servers and written by another,
// so that a slow disk does not silence the chief.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "cluster/chief_core.h"
#include "net/link.h"
#include "net/loop.h"
#include "net/socket.h"
#include "train/journal.h"
#include "train/parts.h"
#include "train/role.h"
#include "train/saver.h"

namespace paceline {

class Chief {
 public:
  Chief(const RoleContext& role, const Address& address);
  ~Chief();

  const Address& address() const { return listener_->address(); }
  // To the end of the run. Throws the Error the run failed with; Interrupted when someone
  // asked it to stop.
  void run();
  void interrupt();  // from any thread: stop, saving the last complete version

 private:
  class Connection;
  struct Present {  // a member that is here, or was
    std::shared_ptr<Connection> connection;
    TimePoint heard;
    wire::Heartbeat figures;
  };

  void carry_out(const ChiefCore::Actions& actions);
  void told(std::uint32_t incarnation, wire::Type type, std::string_view meta);
  void heard(std::uint32_t incarnation, const wire::Heartbeat& beat);
  void send(std::uint32_t incarnation, const ChiefMessage& message);
  void lost(std::uint32_t incarnation, const std::string& reason);
  void look_after_members();
  void look_for_stalls();
  void save(const SaveCheckpoint& checkpoint);
  void end(const RunEnded& ended);
  bool all_gone() const;
  std::string name_of_member(std::uint32_t incarnation) const;

  RoleContext role_;
  RunParts parts_;
  Loop loop_;
  Journal journal_;
  std::unique_ptr<ChiefCore> core_;
  std::unique_ptr<Saver> saver_;
  std::map<std::uint32_t, Present> present_;            // by incarnation
  std::vector<std::shared_ptr<Connection>> strangers_;  // connected, not yet registered
  std::unique_ptr<Listener> listener_;
  Loop::Token checks_;
  Loop::Token start_limit_;
  Loop::Token hurry_;
  std::optional<RunEnded> ended_;
  TimePoint progressed_;
  std::uint64_t last_version_seen_ = 0;
  std::vector<Range> missing_;  // of the open step, as the first server last said
  bool stall_told_ = false;
  ExitCode failure_ = ExitCode::kInternal;
};

}  // namespace paceline

// The chief of a run: carries out what its state machine decides, over links; writes
// metrics, checkpoints and the summary; tells the launcher what happens.
//
// One thread runs the loop. Checkpoints are read from the servers and written by another,
// so that a slow disk does not silence the chief.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/chief_core.h"
#include "net/link.h"
#include "net/loop.h"
#include "net/socket.h"
#include "session/member_line.h"
#include "session/progress_watch.h"
#include "train/role.h"
#include "train/run_record.h"
#include "train/saver.h"
#include "train/workload.h"

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
  void carry_out(const ChiefCore::Actions& actions);
  void send(std::uint32_t incarnation, const ChiefMessage& message);
  void guarded(const std::function<void()>& work);
  void enter(MemberLine& line, const wire::Register& who);
  void told(MemberLine& line, wire::Type type, std::string_view meta);
  void pass_on(const MemberLine& from, std::string_view note);
  void heard(MemberLine& line, const wire::Heartbeat& beat);
  void closed(MemberLine& line, const Error& cause);
  void lost(MemberLine& line, const Error& cause);
  void look_after_members();
  void drop_stuck_members();
  void drop(MemberLine& line, const std::string& reason);
  void look_for_stalls();
  void warn_of_stall(Duration still);
  void look_for_latecomers();
  std::string waits() const;
  std::string silences() const;
  void save(const SaveCheckpoint& checkpoint);
  void start_saver();
  void give_up_saving(const Error& reason);
  void save_failed(std::uint64_t version, const Error& cause);
  void end(const RunEnded& ended);
  bool all_gone() const;
  nlohmann::json figures_by_role() const;

  RoleContext role_;
  Workload workload_;
  CheckpointInfo saved_as_;  // of all checkpoints, but for their version
  Loop loop_;
  RunRecord record_;
  std::unique_ptr<ChiefCore> core_;
  std::unique_ptr<Saver> saver_;
  std::string saved_from_;  // the first server's name
  MemberLine::Events line_events_;
  std::vector<std::shared_ptr<MemberLine>> lines_;  // of members, past ones too, and strangers
  std::unique_ptr<Listener> listener_;
  Loop::Token checks_;
  Loop::Token still_stopping_;
  Loop::Token leave_;
  std::vector<Loop::Token> save_failures_;  // that wait for a better explanation
  std::optional<RunEnded> ended_;
  TimePoint opened_;  // to members
  ProgressWatch watch_;
  TimePoint progressed_;  // when the last step was completed
  TimePoint looked_;      // after members
  std::uint64_t last_version_seen_ = 0;
  std::vector<Range> missing_;  // of the open step, as the first server last said
  bool stall_told_ = false;
  std::exception_ptr own_failure_;
};

}  // namespace paceline

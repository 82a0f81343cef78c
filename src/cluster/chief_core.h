// The chief's protocol as a pure state machine: membership, assignments, leases, watermark,
// epochs. Messages in, actions out; no sockets, threads, clocks or files.
//
// Life of a run: members register; when all that are expected are there the servers are
// set up; when all servers are ready the workers begin. From then on the chief speaks only
// when something changes: a worker is lost or joins, an epoch ends, someone asks to stop.
//
// A lost worker (synchronous mode). Servers are told to accept nothing more from it
// (FENCE) and say where they are; workers are asked which step they have not begun
// (PREPARE) and begin nothing new. The new assignment starts at the first step that nobody has
// touched. Shares of the lost worker in steps that are begun but not complete everywhere
// go, whole, to one survivor each.
//
// A ring has no servers; one of its workers keeps versions, and counts as one. When that worker is
// lost, another is asked to KEEP what it holds: the last version, so that it is tested and saved.
// A ring that loses a member may have done all its steps and not have told so yet: it is stopped,
// and when it turns out to hold the last version the run goes on with the test of that.
//
// What a member says that makes no sense is a FrameError: its line is closed, and it is lost.
//
// chief_assignments.cc has the assignments, chief_losses.cc lost members, chief_end.cc the ways a
// run ends, chief_checks.cc what is believed, chief_core.cc the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "cluster/lease_book.h"
#include "cluster/share_owners.h"
#include "data/share.h"
#include "exchange/coverage.h"
#include "exchange/options.h"
#include "session/protocol.pb.h"

namespace paceline {

enum class Role { kServer, kWorker, kEvaluator };

struct ClusterMember {
  Role role = Role::kWorker;
  std::uint32_t incarnation = 0;
  std::uint32_t rank = 0;
  std::string name;
  std::string address;
  bool live = true;
  bool begun = false;  // has been told to begin
};

// What the driver must do, in order.
using ChiefMessage =
    std::variant<wire::Registered, wire::Setup, wire::Begin, wire::Fence, wire::Prepare,
                 wire::Assignment, wire::Lease, wire::Decision, wire::Pin, wire::Unpin, wire::Keep,
                 wire::Evaluate, wire::Stop, wire::Goodbye>;
struct SendToMember {
  std::uint32_t incarnation;
  ChiefMessage message;
};
struct SaveCheckpoint {  // then call saved(version)
  std::uint64_t version;
  bool complete_epoch;  // or a cut in the middle of one
};
struct Progressed {  // version complete on every server; sums since the last
  std::uint64_t version;
  std::uint64_t examples;  // done so far, exactly
  wire::Complete sums;
};
struct EpochTrained {
  std::uint64_t epoch;
  std::uint64_t version;
};
struct EpochUntested {  // there is no evaluator
  std::uint64_t epoch;
  std::uint64_t version;
};
struct Notice {  // for people
  std::string text;
  bool warning = false;
};
struct RunEnded {  // all done: members may go home
  std::optional<Error> failure;
  bool interrupted;  // someone asked for it, and nothing went wrong
};
using ChiefAction = std::variant<SendToMember, SaveCheckpoint, Progressed, EpochTrained,
                                 EpochUntested, Notice, RunEnded>;

class ChiefCore {
 public:
  struct Options {
    Mode mode = Mode::kSync;
    Grid grid;
    std::uint32_t servers = 1;
    std::uint32_t workers = 1;
    std::uint32_t evaluators = 1;
    std::uint64_t version = 0;       // to start from
    std::uint64_t last_version = 0;  // steps of the whole run
    RangeSet applied;                // async: leases that are done, when not all below version
    std::uint64_t lease_block = 16;
    std::uint64_t checkpoint_every = 1;  // epochs; 0: only at the end
    bool ring = false;                   // of workers, which must not come and go
    std::size_t most_pins = kMostPins;   // async: epochs that wait for their test or their save
  };
  explicit ChiefCore(const Options& options);

  using Actions = std::vector<ChiefAction>;
  const Actions& registered(Role role, const std::string& name, const std::string& address,
                            std::uint32_t& incarnation);
  const Actions& lost(std::uint32_t incarnation, const Error& cause);
  const Actions& ready(std::uint32_t server);
  const Actions& complete(std::uint32_t server, const wire::Complete& complete);
  const Actions& fenced(std::uint32_t server, const wire::Fenced& fenced);
  const Actions& prepared(std::uint32_t worker, const wire::Prepared& prepared);
  const Actions& committed(std::uint32_t worker, const wire::Committed& committed);
  const Actions& scalars(std::uint32_t server, const wire::Scalars& scalars);
  const Actions& evaluated(const wire::Evaluated& evaluated);
  const Actions& saved(std::uint64_t version);
  const Actions& save_failed(std::uint64_t version, const Error& failure);
  const Actions& stop();  // a person asks
  const Actions& fail(const Error& failure);
  const Actions& stopped(std::uint32_t server, const wire::Stopped& stopped);
  const Actions& quiet(std::uint32_t worker);  // it has finished what it had begun
  // While it is stopping and nobody gets on: first workers are not waited for any longer, then
  // servers.
  const Actions& hurry();

  std::uint64_t watermark() const { return watermark_; }
  std::uint64_t examples_done() const;
  const ClusterMember* member(std::uint32_t incarnation) const;
  const std::map<std::uint32_t, ClusterMember>& members() const { return members_; }
  const RangeSet& leases_done() const { return leases_.done(); }
  bool started() const { return started_; }
  bool stopping() const { return stopping_; }
  std::vector<wire::ServerAt> servers() const;  // that live, by index
  bool awaits_test(std::uint64_t version) const;
  // Whom the end of a run that is stopping waits for: "worker0, worker1", or "the checkpoint".
  std::string waited_for() const;
  // Why another member of this role cannot take part; empty: it can.
  std::string unwelcome(Role role) const;
  // Who owes which tiles of `step`: for messages to people.
  std::string owners(std::uint64_t step, const std::vector<Range>& missing) const;

 private:
  struct Reassignment {
    std::uint32_t epoch = 0;
    std::set<std::uint32_t> dead;
    std::map<std::uint32_t, wire::Fenced> fenced;     // by server
    std::map<std::uint32_t, std::uint64_t> prepared;  // by worker
    Error failure = CommError("no worker is left");   // if it is so
  };
  struct Epoch {  // that is trained but not yet tested and saved
    std::uint64_t number;
    std::set<std::uint32_t> pinned;  // servers that hold it
    bool announced = false;
    bool evaluated = false;
    bool saved = false;
  };

  // Throw FrameError.
  void expect(std::uint32_t incarnation, Role role) const;
  void expect_server(std::uint32_t incarnation) const;  // that holds parameters
  void expect_reached(std::uint64_t version) const;     // some day
  void expect_steps(const wire::Tiles& steps) const;

  void send(std::uint32_t incarnation, ChiefMessage message);
  void send_all(Role role, const ChiefMessage& message);
  std::vector<std::uint32_t> live(Role role) const;
  void begin_if_ready();
  void begin(ClusterMember& member, std::uint64_t version, wire::Assignment assignment);
  void lost_worker(std::uint32_t worker, const Error& lost);
  void lost_server(Error lost);
  void ask_to_keep(const Error& lost);
  std::vector<std::uint32_t> who_may_keep() const;
  void begin_with_heir(std::uint32_t keeper);
  void start_reassignment(std::set<std::uint32_t> dead);
  void finish_reassignment_if_ready();
  std::vector<std::uint32_t> heirs() const;
  wire::Assignment make_assignment(std::uint64_t start);
  void lease_to(std::uint32_t worker);
  void lease_all();
  void cut_if_drained();
  bool all_leased_and_done() const;
  bool all_steps_done() const;
  void finish_if_done();
  void epoch_pinned(std::uint64_t version, std::uint32_t server);
  void open_next_epoch();
  void settle_epoch(std::uint64_t version);
  void end_as_asked();
  void end_early(const Error& failure);
  void break_ring(const Error& lost);
  void mend();
  void go_on_to_last_test();
  void pin_last_version();
  void await_last_test();
  void leave_untested();
  wire::Stop stop_message() const;
  void stop_servers();
  bool all_quiet() const;  // the workers that live
  void stop_servers_if_quiet();
  void save_stopped_version();
  bool diverged() const { return failure_ && failure_->code() == ExitCode::kDiverged; }
  void finish_if_diverged();
  void finish();

  Options options_;
  std::map<std::uint32_t, ClusterMember> members_;  // by incarnation
  std::uint32_t last_incarnation_ = 0;
  std::set<std::uint32_t> ready_servers_;
  bool started_ = false;
  Actions actions_;

  // progress
  std::map<std::uint32_t, std::uint64_t> versions_;  // by server
  std::uint64_t watermark_;
  std::uint64_t told_epoch_ = 0;           // the last pinned version that Progressed has told of
  std::map<std::uint64_t, Epoch> epochs_;  // by version, not yet settled
  std::map<std::uint64_t, std::map<std::uint32_t, wire::Scalars>> scalars_;  // by step

  // sync
  ShareOwners owners_;
  std::uint32_t epoch_ = 0;
  std::optional<Reassignment> reassignment_;

  // async
  LeaseBook leases_;

  // the end
  bool stopping_ = false;
  bool finished_ = false;
  std::optional<Error> failure_;
  bool broken_ = false;            // a ring stops because a member is lost, and for no other reason
  bool servers_told_ = false;      // to stop
  std::set<std::uint32_t> quiet_;  // workers
  std::map<std::uint32_t, wire::Stopped> stopped_;  // by server
  std::optional<std::uint64_t> saving_;             // the version that is saved at the end
  std::uint64_t last_saved_ = 0;
  std::uint32_t heir_ = 0;      // of a ring: the worker that is to keep versions; 0: none was asked
  bool testers_leave_ = false;  // of a ring that nobody is left of: when they have tested
};

}  // namespace paceline

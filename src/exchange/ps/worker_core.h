// The worker's side of a parameter-server exchange as a pure state machine.
//
// It decides which share to compute next, which chunks must be asked for at which version,
// and what the chief is told. It knows no sockets, threads, clocks or floats. The driver
// (client.h, or a simulation) calls it from one thread at a time.
//
// The life of a share: next() hands it out; needs(chunk) asks for the parameters it must
// be computed from; holds(chunk) says that they are there; push(chunk) sends its gradient;
// after the last chunk the share is done. Until its first push a share can be set aside
// for a more urgent one: see superseded().
//
// Parameters take a while to arrive. Those that a share is computed from must not change meanwhile,
// so the driver asks at the first byte, with arriving(), whether they go straight into memory or
// aside, and says arrived() after the last. What went aside is taken over as soon as it may be
// (TakeAside): at once, or when the driver says install_aside() after the share.
//
// Of a table (`rows`), a chunk is what one server has of it, and parameters are the rows that a
// share touches. RowReads (row_reads.h) knows which were asked for and which are there, so needs(),
// holds() and what is said of arriving are not used; the version in hand is the newest that is
// known to be at the server.
//
// worker_arrivals.cc has what arrives, worker_core.cc the rest.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "data/share.h"
#include "exchange/assignment.h"
#include "exchange/options.h"
#include "session/protocol.pb.h"

namespace paceline {

struct SendPull {
  wire::Pull message;
};
struct SendPush {
  wire::Push message;
  std::uint32_t assignment_epoch;
  std::uint64_t base_version;
};
struct WordForChief {
  std::variant<wire::Prepared, wire::Committed> message;
};
struct TakeAside {  // what went aside of a chunk: write it into memory, or drop it
  std::uint32_t chunk;
  bool install;
};
using WorkerAction = std::variant<SendPull, SendPush, WordForChief, TakeAside>;

// What a contribution says of itself besides its tiles.
struct Contribution {
  double weight = 0;
  double loss = 0;
  std::uint64_t correct = 0;
  std::uint64_t examples = 0;
  double scale = 1;
  std::uint64_t predictions = 0;
};

class WorkerCore {
 public:
  struct Options {
    Mode mode = Mode::kSync;
    Grid grid;
    std::uint32_t chunks = 1;
    std::uint32_t incarnation = 0;
    std::uint64_t version = 0;       // to start from
    std::uint64_t last_version = 0;  // steps of the whole run
    std::uint64_t report_every = 8;  // async: commits told to the chief at a time
    bool rows = false;
  };
  explicit WorkerCore(const Options& options);

  // Messages. Each returns what to send; the reference is valid until the next call. What nobody
  // would say is a FrameError.
  using Actions = std::vector<WorkerAction>;
  const Actions& assignment(const wire::Assignment& assignment);
  const Actions& prepare(const wire::Prepare& prepare);
  const Actions& lease(const wire::Lease& lease);
  // `clock` is what the first server calls this worker's when it joins (async).
  const Actions& params(std::uint32_t chunk, std::uint64_t version,
                        std::optional<std::uint64_t> clock = {});
  const Actions& ack(const wire::Ack& ack);
  const Actions& refused(const wire::Refusal& refusal);  // throws CommError: cannot go on
  void stop() { stopping_ = true; }

  // The training thread's side.
  enum class Next { kShare, kWait, kDone };
  Next next(Share& share);
  const Actions& take_actions();  // what next() wants sent
  bool holds(std::uint32_t chunk) const;
  const Actions& needs(std::uint32_t chunk);
  const Actions& push(std::uint32_t chunk, const Contribution& contribution);
  bool superseded() const;
  void set_aside();

  struct Arrival {                       // parameters of a chunk, as they are sent
    bool raw = true;                     // just as they lie in memory
    std::optional<std::uint64_t> since;  // no more than has changed since this version
    std::optional<std::uint64_t> clock;  // as of params()
  };
  // Whether they overwrite those in memory, of which no version is in hand until arrived();
  // otherwise they go aside, in the place of what went there before.
  bool arriving(std::uint32_t chunk, const Arrival& arrival);
  // Throws FrameError.
  const Actions& arrived(std::uint32_t chunk, std::uint64_t version);
  // No share is computed from the parameters in memory. Throws FrameError.
  const Actions& install_aside();

  std::optional<std::uint64_t> version(std::uint32_t chunk) const { return chunks_.at(chunk).have; }
  bool stopping() const { return stopping_; }
  bool quiet() const { return !current_ && uncommitted_.empty(); }
  // The share that will probably follow `share`: for reading ahead.
  std::optional<Share> after(const Share& share) const;
  std::optional<std::uint64_t> clock() const { return clock_; }  // async: none until it has joined
  std::uint64_t current_step() const { return current_ ? current_->share.step : next_step_; }

 private:
  struct Task {
    Share share;
    std::uint32_t epoch = 0;  // of the assignment that cut it
  };
  struct Aside {
    Arrival arrival;
    std::optional<std::uint64_t> version;  // once it has arrived
  };
  struct Chunk {
    std::optional<std::uint64_t> have;    // version in hand
    std::optional<std::uint64_t> wanted;  // version asked for and not yet here (sync)
    bool pushed = false;                  // of the current share
    std::optional<Arrival> landing;       // is overwriting what is in memory
    std::optional<Aside> aside;
    // async
    bool join = true;                   // must pull before the next share: it idled or is new
    std::uint32_t answers = 0;          // parameters under way to this worker
    std::uint64_t pushes = 0;           // of shares
    std::uint64_t acknowledgments = 0;  // of these
  };

  void expect_chunk(std::uint32_t number) const;  // throws FrameError
  Next next_sync(Task& task);
  Next next_leased(Task& task);
  void add_to_do(const Task& task);
  bool complete(std::uint64_t version);
  void ask(std::uint32_t chunk, std::uint64_t version);
  bool may_land(std::uint32_t chunk) const;
  void take(std::uint32_t chunk, std::uint64_t version, std::optional<std::uint64_t> clock);
  void take_aside(std::uint32_t chunk);
  void missed(std::uint32_t chunk, std::uint64_t version);
  void join(std::uint32_t chunk);
  void acknowledge(std::uint32_t chunk);
  void report_commits(bool all);

  Options options_;
  std::vector<Chunk> chunks_;
  std::optional<Task> current_;
  std::uint32_t unpushed_ = 0;  // chunks of the current share
  bool stopping_ = false;
  Actions actions_;

  // sync
  AssignmentBook assignments_;
  std::uint64_t next_step_;
  std::vector<Task> to_do_;                // adopted or set aside, by step; before anything new
  std::optional<std::uint32_t> prepared_;  // begins nothing new until that assignment is here

  // async
  std::deque<std::uint64_t> leases_;
  bool idle_ = true;                    // the servers count this worker as having nothing under way
  std::optional<std::uint64_t> clock_;  // once the first server has said it
  std::vector<std::uint32_t> to_join_;  // chunks that wait for it
  std::deque<std::uint64_t> uncommitted_;  // steps pushed, whole or in part, oldest first
  std::uint64_t commits_ = 0;
  std::vector<std::uint64_t> committed_;  // not yet told
};

}  // namespace paceline

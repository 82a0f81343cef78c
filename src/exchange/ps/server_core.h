// The parameter server's protocol as a pure state machine: messages in, actions out.
//
// It decides what a contribution is (new, a duplicate, refused), when a chunk may be
// applied, who is answered with which version, and what the chief is told. It knows no
// sockets, threads, clocks or floats: a driver (server.h, or a simulation) carries out
// the actions in their order and owns the numbers (shard.h).
//
// Synchronous mode: `version` v means steps below v are applied to every chunk here; step
// v is open. Contributions for v are collected per chunk until they cover the step. A
// push for step v implies that its sender holds version v of every chunk of every server,
// so everything before v is complete everywhere; hence the server need keep only the
// version it publishes, the one before, and those that are pinned.
//
// Asynchronous modes: a contribution covers a whole step and is applied at once, once per
// chunk, whatever its order; a chunk's version is the number of contributions applied.
//
// Of a table (`rows`), a chunk is all that this server has of it. Whoever reads names the rows and
// gives the read a ticket, so a push is no read: it is acknowledged (async) and answered by nothing
// else. A worker may ask for the rows of its next share before it has pushed this one.
//
// A read of a version that is yet to come waits for it. Of one client at most 64 reads of a chunk
// wait, and none for a version beyond the run's end; more is a FrameError, as is any message that
// no client would send.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/range.h"
#include "data/share.h"
#include "exchange/coverage.h"
#include "exchange/options.h"
#include "session/protocol.pb.h"

namespace paceline {

using ClientId = std::uint32_t;  // of a connection, chosen by the driver

// Where a contribution comes from.
struct Sender {
  ClientId client = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t assignment_epoch = 0;
  std::uint64_t base_version = 0;
};

// What the driver must do, in order.
struct Accumulate {  // add the contribution that was just delivered to the chunk's sum
  std::uint32_t chunk;
  bool first;
};
struct CheckChunk {  // find whether the chunk's sum is finite; then call checked()
  std::uint32_t chunk;
  std::uint64_t step;
};
struct MeasureStep {  // compute norm and finiteness of all sums; then call measured()
  std::uint64_t step;
};
struct Apply {  // the chunk's sum (or, async, the contribution just delivered)
  std::uint32_t chunk;
  std::uint64_t step;
  double weight;
  double scale;                   // clipping; 0: count the step but change nothing
  std::uint64_t version;          // that it becomes
  std::uint64_t examples_before;  // committed before this application: the schedule's clock
};
struct PinVersion {
  std::uint64_t version;
};
struct ReleaseVersion {
  std::uint64_t version;
};
struct SendParams {
  ClientId client;
  std::uint32_t chunk;
  std::uint64_t version;
  bool state = false;
  std::optional<std::uint64_t> since = {};  // the version that the client holds, if it is known
  std::uint64_t ticket = 0;                 // rows: of the read that this answers
  std::optional<std::uint64_t> clock = {};  // async: of a reader that has just been given one
};
struct SendToClient {
  ClientId client;
  std::variant<wire::Ack, wire::Refusal> message;
};
struct SendToChief {
  std::variant<wire::Complete, wire::Fenced, wire::Scalars, wire::Stopped> message;
};
struct FailRun {  // the chief is told why; nothing more is applied
  DivergedError reason;
};
using ServerAction = std::variant<Accumulate, CheckChunk, MeasureStep, Apply, PinVersion,
                                  ReleaseVersion, SendParams, SendToClient, SendToChief, FailRun>;

class ServerCore {
 public:
  struct Options {
    Mode mode = Mode::kSync;
    Grid grid;
    StepRules rules;
    std::vector<std::uint32_t> chunks;  // this server's, ascending
    std::uint32_t servers = 1;
    std::uint64_t staleness = 0;
    std::uint64_t version = 0;          // to start from
    std::vector<Range> applied;         // async: the steps it stands for, if not all below it
    std::uint64_t last_version = 0;     // the run's end: pinned
    std::size_t most_pins = kMostPins;  // sync: further progress waits for an UNPIN
    bool rows = false;                  // it holds a part of a table, as a single chunk
    // Whether a run that ends may have to go back to the version before this server's, or before a
    // chunk's of it. In sync mode chunks and servers apply an open step one by one, and a stop or a
    // gradient that is not finite may come between; elsewhere nothing goes back. A single server
    // that looks at the whole step first applies all of it at once.
    bool may_go_back() const {
      return mode == Mode::kSync &&
             (servers > 1 || (chunks.size() > 1 && !rules.need_whole_step()));
    }
  };
  explicit ServerCore(const Options& options);

  // Each returns the actions to take now; the reference is valid until the next call.
  using Actions = std::vector<ServerAction>;
  const Actions& push(const Sender& sender, const wire::Push& push);
  const Actions& pull(ClientId client, std::uint32_t incarnation, const wire::Pull& pull);
  const Actions& checked(std::uint32_t chunk, std::uint64_t step, bool finite);
  const Actions& measured(std::uint64_t step, double sum_of_squares, bool finite);
  const Actions& decision(const wire::Decision& decision);
  const Actions& client_gone(ClientId client, std::uint32_t incarnation);
  const Actions& fence(const wire::Fence& fence);
  const Actions& pin(std::uint64_t version);
  const Actions& unpin(std::uint64_t version);
  const Actions& report();  // tells the chief how far this server is
  const Actions& stop();

  std::uint64_t version() const { return version_; }
  bool applies_at_once() const { return options_.mode != Mode::kSync; }
  // What the open step still lacks on the chunk that lacks most: for messages to people.
  std::vector<Range> missing() const;
  // Async: the steps applied to every chunk; nothing while chunks differ.
  std::optional<RangeSet> applied() const;

 private:
  struct Waiting {
    ClientId client;
    std::uint64_t version;  // sync
    bool state = false;
    std::optional<std::uint64_t> since = {};
    std::uint64_t ticket = 0;
  };
  struct Read {  // that waits until others have caught up
    ClientId client;
    std::uint64_t ticks;  // of the reader, when it asked
    std::uint64_t ticket;
    bool joins = false;  // and wants to know them
  };
  struct Clock {  // of one worker on one chunk (ssp)
    std::uint64_t ticks = 0;
    bool active = false;
    std::deque<Read> reads;              // oldest first; more than one only of rows
    std::optional<std::uint64_t> since;  // the version that it holds, if it is known
  };
  struct Chunk {
    std::uint64_t version = 0;
    // sync: the open step
    Coverage coverage;
    double weight = 0;
    enum { kUnseen, kChecking, kFinite } sum = kUnseen;
    std::vector<Waiting> waiting;
    // async
    RangeSet applied;
    std::uint64_t examples = 0;             // of the contributions applied
    std::map<std::uint32_t, Clock> clocks;  // by incarnation
  };

  Chunk& chunk(std::uint32_t number);
  void open_step();
  void push_sync(const Sender& sender, const wire::Push& push);
  void push_async(const Sender& sender, const wire::Push& push);
  void count(const wire::Push& push);
  void settle();
  void decide(double sum_of_squares, bool finite);
  bool may_apply(std::uint32_t number, Chunk& chunk);
  void fail_not_finite();
  void apply_open(std::uint32_t number, Chunk& chunk, double scale);
  void finish_step();
  void expect_modest(ClientId client, std::uint32_t incarnation, const Chunk& chunk,
                     const wire::Pull& pull) const;
  void answer(std::uint32_t number, Chunk& chunk, const Waiting& reader);
  void answer_waiting(std::uint32_t number, Chunk& chunk);
  void read(std::uint32_t number, Chunk& chunk, Clock& clock, const Read& read);
  void answer_reads(std::uint32_t number, const Chunk& chunk, Clock& clock);
  bool may_read(const Chunk& chunk, const Read& read) const;
  void acknowledge(ClientId client, const wire::Push& push);
  void release_readers(std::uint32_t number, Chunk& chunk);
  void leave(std::uint32_t incarnation);
  void pin_if_reached(std::uint64_t version);
  void tell_complete(bool pinned);
  void refuse(ClientId client, std::uint32_t chunk, std::uint64_t step,
              wire::Refusal::Reason reason);
  bool kept(const Chunk& chunk, std::uint64_t version) const;
  bool pinned_by_schedule(std::uint64_t version) const;

  Options options_;
  std::map<std::uint32_t, Chunk> chunks_;
  std::uint64_t version_;
  std::uint32_t step_epoch_ = 0;  // assignment of the open step's contributions
  bool measuring_ = false;        // the open step is covered and waits for its scalars
  std::optional<double> scale_;   // of the open step, once known
  std::set<std::uint64_t> pins_;
  std::set<std::uint64_t> wanted_pins_;  // async: named before all chunks reached them
  // Never shrinks: whoever counts as dead may only be cut off, and come back at any time. A few
  // bytes for each death.
  std::set<std::uint32_t> dead_;
  bool stopped_ = false;
  wire::Complete tally_;  // sums not yet told to the chief
  Actions actions_;
};

}  // namespace paceline

// A whole cluster of the real state machines under a seeded scheduler and a virtual clock.
//
// Links keep order and have random delays, so that messages of different links overtake
// each other. Workers die before, during and after pushes, are taken for dead while they
// live, and join. Instead of floats there are 64-bit words (words.h): a synchronous run ends
// with exactly those of the one-process reference if, and only if, every tile was computed
// from the right version everywhere, counted once, and (deterministic) joined where it
// belongs. What asynchronous servers apply is computed again from the versions that it was
// computed from (replay.h). Everything is a function of the seed: a failure is replayed by it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/share.h"
#include "exchange/options.h"
#include "sim/history.h"

namespace paceline::sim {

// A rule to break on purpose: the checker must notice.
enum class Mutation {
  kNone,
  kCountDuplicates,  // a server adds what its state machine called a duplicate
  kForgetTouched,    // a fenced server claims that nobody touched its open step
  kReleaseReaders,   // a server answers reads that must wait
  kOverwriteInUse,   // parameters land on those a worker is computing from
  kForgetAhead,      // a server takes reads of rows ahead for reads of those that are due
  kInstallAnyway,    // a worker installs changes of another version than the one in memory
  kRememberReads,    // a server remembers reads of rows from which no push will come
  // These strike once in a run, and no event tells of them: only the words can.
  kAddTwice,    // a server adds a contribution twice
  kLose,        // a server counts a contribution but does not add it
  kWrongPlace,  // a server adds the nodes of a contribution in each other's place
  kWrongBase,   // a worker computes from parameters older than those that it says
};

struct Scenario {
  std::uint64_t seed = 1;
  Mode mode = Mode::kSync;
  Grid grid{97, 20, 3};
  std::uint64_t epochs = 2;
  std::uint32_t servers = 2;
  std::uint32_t workers = 3;
  std::uint32_t chunks_per_server = 2;
  std::uint64_t staleness = 1;
  bool rows = false;     // chunks are parts of a table, one per server; reads are asked for ahead
  bool encoded = false;  // parameters must be decoded when they are there, as halves must
  bool deterministic = false;      // sums go along the tree of tiles
  bool whole_step = false;         // as with clipping: all chunks wait for the scalars
  std::uint32_t deaths = 1;        // at most workers − 1
  std::uint32_t false_deaths = 0;  // declared dead while they live
  std::uint32_t joins = 0;
  double stop_at = 0;     // virtual seconds; 0: never
  bool diverges = false;  // it ends at stop_at with a gradient that is not finite
  bool saves_fail = false;
  std::uint64_t version = 0;   // to go on from
  std::vector<Range> applied;  // async: which steps that is, when not all below it
  double slow = 1;             // how much slower the last worker is
  Mutation mutation = Mutation::kNone;
  bool record = false;  // all messages
};

struct Message {  // that was sent
  double time;
  std::uint32_t from;
  std::uint32_t to;
  std::string text;
  bool operator==(const Message&) const = default;
};

struct Outcome {
  std::vector<std::string> problems;  // empty: all rules held
  std::string ended;                  // the error the run ended with; empty: success
  bool interrupted = false;
  std::uint64_t saved_version = 0;
  std::uint64_t last_epoch = 0;  // the version of the last epoch that was trained
  std::vector<Range> applied;    // async: the steps done at the end
  std::uint64_t examples = 0;    // as the chief counted them
  std::uint64_t assignments = 0;
  std::uint64_t duplicates = 0;  // contributions that were seen already
  std::uint64_t events = 0;
  bool struck = false;                        // a mutation that strikes once did
  std::vector<std::vector<Event>> histories;  // by server
  std::vector<Message> messages;              // recorded
};

Outcome simulate(const Scenario& scenario);

}  // namespace paceline::sim

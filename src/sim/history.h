// What happened at the servers of a simulated run, and the checker that reads it.
//
// The checker knows the rules, not the code: it recomputes from the events alone that
// every tile was applied exactly once on each chunk, that versions never go back, and that
// no reader was further ahead than the staleness bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/range.h"
#include "data/share.h"
#include "exchange/options.h"

namespace paceline::sim {

struct Added {  // a contribution was added to the sum of a chunk's open step
  std::uint32_t chunk;
  std::uint64_t step;
  Range tiles;
  bool operator==(const Added&) const = default;
};
struct Applied {  // the sum (sync) or the contribution (async) was applied
  std::uint32_t chunk;
  std::uint64_t step;
  std::uint64_t version;
  bool operator==(const Applied&) const = default;
};
struct Joined {  // a worker begins to read the latest (async): new, or after idling
  std::uint32_t chunk;
  std::uint32_t worker;
  std::optional<std::uint64_t> clock;  // that another server has given it
  bool operator==(const Joined&) const = default;
};
struct Ticked {  // a worker's push was taken (async), the last one in hand or not
  std::uint32_t chunk;
  std::uint32_t worker;
  std::uint64_t clock;
  bool last_lease;
  bool operator==(const Ticked&) const = default;
};
struct Left {
  std::uint32_t worker;
  bool operator==(const Left&) const = default;
};
struct Asked {  // for rows of a share (async): the one that a worker computes, or the one after it
  std::uint32_t chunk;
  std::uint32_t worker;
  std::uint64_t ticket;
  bool ahead;
  bool operator==(const Asked&) const = default;
};
struct Read {  // parameters were sent to a worker that will compute from them (async)
  std::uint32_t chunk;
  std::uint32_t worker;
  std::uint64_t ticket;  // of rows
  bool operator==(const Read&) const = default;
};
using Event = std::variant<Added, Applied, Joined, Ticked, Left, Asked, Read>;

struct Rules {
  Mode mode = Mode::kSync;
  Grid grid;
  std::uint64_t staleness = 0;
  std::vector<Range> before;    // steps applied before this history begins
  std::uint64_t last_step = 0;  // all below it must be applied at the end
  bool must_finish = true;
};

// Problems found in the history of one server that holds `chunks`; empty: none.
std::vector<std::string> check(const Rules& rules, const std::vector<std::uint32_t>& chunks,
                               const std::vector<Event>& history);

}  // namespace paceline::sim

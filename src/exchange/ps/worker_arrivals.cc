// What WorkerCore makes of parameters that arrive.
#include <utility>

#include "exchange/ps/worker_core.h"
#include "net/frame.h"

namespace paceline {

const WorkerCore::Actions& WorkerCore::params(std::uint32_t chunk, std::uint64_t version,
                                              std::optional<std::uint64_t> clock) {
  actions_.clear();
  take(chunk, version, clock);
  return actions_;
}

void WorkerCore::take(std::uint32_t number, std::uint64_t version,
                      std::optional<std::uint64_t> clock) {
  Chunk& chunk = chunks_.at(number);
  chunk.have = options_.rows ? std::max(chunk.have.value_or(0), version) : version;
  if (chunk.wanted && *chunk.wanted == version) chunk.wanted.reset();
  if (chunk.answers > 0) --chunk.answers;
  if (!options_.rows) acknowledge(number);
  if (clock && !clock_) {
    clock_ = clock;
    for (const std::uint32_t other : std::exchange(to_join_, {})) join(other);
  }
}

bool WorkerCore::may_land(std::uint32_t chunk) const {
  return !current_ || chunks_.at(chunk).pushed || !holds(chunk);
}

bool WorkerCore::arriving(std::uint32_t number, const Arrival& arrival) {
  Chunk& chunk = chunks_.at(number);
  if (!arrival.raw || !may_land(number)) {
    chunk.aside = {arrival, std::nullopt};
    return false;
  }
  chunk.landing = arrival;
  chunk.have.reset();
  return true;
}

const WorkerCore::Actions& WorkerCore::arrived(std::uint32_t number, std::uint64_t version) {
  actions_.clear();
  Chunk& chunk = chunks_.at(number);
  if (const auto landed = std::exchange(chunk.landing, std::nullopt)) {
    take(number, version, landed->clock);
    return actions_;
  }
  if (!chunk.aside) throw FrameError("parameters that did not begin to arrive");
  chunk.aside->version = version;
  if (may_land(number)) take_aside(number);
  return actions_;
}

// What is still arriving is taken over when it is there.
const WorkerCore::Actions& WorkerCore::install_aside() {
  actions_.clear();
  for (std::uint32_t chunk = 0; chunk < options_.chunks; ++chunk) {
    if (chunks_[chunk].aside && chunks_[chunk].aside->version) take_aside(chunk);
  }
  return actions_;
}

void WorkerCore::take_aside(std::uint32_t number) {
  Chunk& chunk = chunks_[number];
  const Aside aside = *std::exchange(chunk.aside, std::nullopt);
  const bool fits = !aside.arrival.since || aside.arrival.since == chunk.have;
  actions_.push_back(TakeAside{number, fits});
  // A share that was pushed twice is answered twice.
  if (!fits && chunk.have != aside.version) return missed(number, *aside.version);
  take(number, *aside.version, aside.arrival.clock);
}

// Changes came that lead to `version`, from one that is not in hand any more: the worker has gone
// back for somebody else's share.
void WorkerCore::missed(std::uint32_t number, std::uint64_t version) {
  if (options_.mode != Mode::kSync) throw FrameError("changes of a version that is not here");
  Chunk& chunk = chunks_[number];
  if (chunk.wanted == version) {
    chunk.wanted.reset();
    ask(number, version);
  }
}

}  // namespace paceline

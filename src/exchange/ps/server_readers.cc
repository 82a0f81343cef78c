// ServerCore's readers: who is answered with which version, and when.
#include <algorithm>

#include "exchange/ps/server_core.h"
#include "net/frame.h"

namespace paceline {
namespace {

// Reads of one client that may wait on a chunk. Workers have one, or two where they ask ahead, and
// those that were given up; who has more does not follow the protocol.
constexpr std::ptrdiff_t kMostWaiting = 64;

}  // namespace

const ServerCore::Actions& ServerCore::pull(ClientId client, std::uint32_t incarnation,
                                            const wire::Pull& pull) {
  actions_.clear();
  Chunk& chunk = this->chunk(pull.chunk());
  expect_modest(client, incarnation, chunk, pull);
  if (dead_.contains(incarnation)) {
    refuse(client, pull.chunk(), pull.version(), wire::Refusal::FENCED);
  } else if (pull.latest()) {
    Clock& clock = chunk.clocks[incarnation];
    if (!clock.active) {  // joins, or comes back from idling, at the smallest live clock
      std::optional<std::uint64_t> smallest;
      for (const auto& [member, other] : chunk.clocks) {
        if (other.active && (!smallest || other.ticks < *smallest)) smallest = other.ticks;
      }
      clock.ticks = pull.has_clock() ? pull.clock() : smallest.value_or(clock.ticks);
      clock.active = true;
    }
    clock.since.reset();
    read(pull.chunk(), chunk, clock, {client, clock.ticks, pull.ticket(), !pull.has_clock()});
  } else {
    answer(pull.chunk(), chunk, {client, pull.version(), pull.state(), {}, pull.ticket()});
  }
  return actions_;
}

// Before anything is remembered of it: whoever asks for what never comes is closed.
void ServerCore::expect_modest(ClientId client, std::uint32_t incarnation, const Chunk& chunk,
                               const wire::Pull& pull) const {
  if (!pull.latest() && pull.version() > options_.last_version) {
    throw FrameError(fmt::format("version {} is beyond the run's end, {}", pull.version(),
                                 options_.last_version));
  }
  std::ptrdiff_t waiting = std::ranges::count(chunk.waiting, client, &Waiting::client);
  if (const auto clock = chunk.clocks.find(incarnation); clock != chunk.clocks.end()) {
    waiting += std::ssize(clock->second.reads);
  }
  if (waiting < kMostWaiting) return;
  throw FrameError(fmt::format("{} reads of chunk {} wait already, more than a client may have",
                               waiting, pull.chunk()));
}

// Answers now, later, or with a refusal: exactly the version that was asked for.
void ServerCore::answer(std::uint32_t number, Chunk& chunk, const Waiting& reader) {
  if (kept(chunk, reader.version)) {
    actions_.push_back(SendParams{reader.client, number, reader.version, reader.state, reader.since,
                                  reader.ticket});
  } else if (reader.version < chunk.version) {
    refuse(reader.client, number, reader.version, wire::Refusal::GONE);
  } else {
    const auto same = std::ranges::find_if(chunk.waiting, [&](const Waiting& other) {
      return other.client == reader.client && other.version == reader.version &&
             other.ticket == reader.ticket;
    });
    if (same == chunk.waiting.end()) {
      chunk.waiting.push_back(reader);
    } else if (!reader.since) {
      same->since.reset();  // who pulls no longer has what it pushed from
    }
  }
}

void ServerCore::answer_waiting(std::uint32_t number, Chunk& chunk) {
  const auto due =
      std::stable_partition(chunk.waiting.begin(), chunk.waiting.end(),
                            [&](const Waiting& reader) { return reader.version > chunk.version; });
  for (auto reader = due; reader != chunk.waiting.end(); ++reader) answer(number, chunk, *reader);
  chunk.waiting.erase(due, chunk.waiting.end());
}

bool ServerCore::kept(const Chunk& chunk, std::uint64_t version) const {
  if (version == chunk.version || pins_.contains(version)) return version <= chunk.version;
  return options_.mode == Mode::kSync && version + 1 == chunk.version &&
         version >= options_.version;
}

// Bounded staleness: a read at clock c waits until every active member's pushes of clocks
// below c − staleness are applied. A member that idles has nothing under way.
bool ServerCore::may_read(const Chunk& chunk, const Read& read) const {
  if (options_.mode != Mode::kSsp) return true;
  return std::ranges::none_of(chunk.clocks, [&](const auto& entry) {
    return entry.second.active && entry.second.ticks + options_.staleness < read.ticks;
  });
}

void ServerCore::read(std::uint32_t number, Chunk& chunk, Clock& clock, const Read& read) {
  if (!options_.rows) clock.reads.clear();  // who asks again wants the newest
  clock.reads.push_back(read);
  answer_reads(number, chunk, clock);
}

void ServerCore::answer_reads(std::uint32_t number, const Chunk& chunk, Clock& clock) {
  while (!clock.reads.empty() && may_read(chunk, clock.reads.front())) {
    const Read& first = clock.reads.front();
    SendParams send{first.client, number, chunk.version, false, clock.since, first.ticket};
    if (first.joins) send.clock = first.ticks;
    actions_.push_back(send);
    clock.reads.pop_front();
  }
}

void ServerCore::release_readers(std::uint32_t number, Chunk& chunk) {
  for (auto& [incarnation, clock] : chunk.clocks) answer_reads(number, chunk, clock);
}

void ServerCore::leave(std::uint32_t incarnation) {
  for (auto& [number, chunk] : chunks_) {
    if (chunk.clocks.erase(incarnation) > 0) release_readers(number, chunk);
  }
}

const ServerCore::Actions& ServerCore::client_gone(ClientId client, std::uint32_t incarnation) {
  actions_.clear();
  for (auto& [number, chunk] : chunks_) {
    std::erase_if(chunk.waiting, [&](const Waiting& reader) { return reader.client == client; });
  }
  leave(incarnation);
  return actions_;
}

}  // namespace paceline

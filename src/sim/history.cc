#include "sim/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace paceline::sim {
namespace {

class Checker {
 public:
  Checker(const Rules& rules, const std::vector<std::uint32_t>& chunks) : rules_(rules) {
    for (const std::uint32_t number : chunks) {
      Chunk& chunk = chunks_[number];
      for (const Range& steps : rules.before) {
        for (std::uint64_t step = steps.begin; step < steps.end; ++step) chunk.applied.insert(step);
      }
      chunk.version = chunk.applied.size();
    }
  }

  void operator()(const Added& added) {
    Chunk& chunk = chunks_.at(added.chunk);
    for (std::uint64_t tile = added.tiles.begin; tile < added.tiles.end; ++tile) {
      if (!chunk.tiles[added.step].insert(tile).second) {
        problem("tile {} of step {} was added twice to chunk {}", tile, added.step, added.chunk);
      }
    }
    if (chunk.applied.contains(added.step)) {
      problem("step {} of chunk {} got tiles after it was applied", added.step, added.chunk);
    }
  }

  void operator()(const Applied& applied) {
    Chunk& chunk = chunks_.at(applied.chunk);
    if (!chunk.applied.insert(applied.step).second) {
      problem("step {} was applied twice to chunk {}", applied.step, applied.chunk);
    }
    if (applied.version != chunk.version + 1) {
      problem("chunk {} went from version {} to {}", applied.chunk, chunk.version, applied.version);
    }
    if (rules_.mode == Mode::kSync) {
      if (applied.step != chunk.version) {
        problem("step {} was applied to version {}", applied.step, chunk.version);
      }
      if (chunk.tiles[applied.step].size() != rules_.grid.tiles(applied.step)) {
        problem("step {} of chunk {} was applied with {} of {} tiles", applied.step, applied.chunk,
                chunk.tiles[applied.step].size(), rules_.grid.tiles(applied.step));
      }
    }
    chunk.version = applied.version;
  }

  void operator()(const Joined& joined) {
    auto& clocks = chunks_.at(joined.chunk).clocks;
    if (clocks.contains(joined.worker)) return;
    std::uint64_t smallest =
        clocks.empty() ? chunks_.at(joined.chunk).last[joined.worker] : ~std::uint64_t{0};
    for (const auto& [worker, clock] : clocks) smallest = std::min(smallest, clock);
    clocks[joined.worker] = joined.clock.value_or(smallest);
  }

  void operator()(const Ticked& ticked) {
    auto& clocks = chunks_.at(ticked.chunk).clocks;
    clocks[ticked.worker] = chunks_.at(ticked.chunk).last[ticked.worker] = ticked.clock;
    if (ticked.last_lease) clocks.erase(ticked.worker);
  }

  void operator()(const Left& left) {
    for (auto& [number, chunk] : chunks_) chunk.clocks.erase(left.worker);
  }

  void operator()(const Read& read) {
    if (rules_.mode != Mode::kSsp) return;
    const auto& clocks = chunks_.at(read.chunk).clocks;
    const auto own = clocks.find(read.worker);
    if (own == clocks.end()) return;
    const std::uint64_t at = read.ticket > 0 ? asked_.at({read.worker, read.ticket}) : own->second;
    for (const auto& [worker, clock] : clocks) {
      if (clock + rules_.staleness < at) {
        problem("worker {} read chunk {} at clock {} while worker {} was at {}", read.worker,
                read.chunk, at, worker, clock);
      }
    }
  }

  void operator()(const Asked& asked) {
    asked_[{asked.worker, asked.ticket}] =
        chunks_.at(asked.chunk).clocks[asked.worker] + (asked.ahead ? 1 : 0);
  }

  std::vector<std::string> finish() {
    for (const auto& [number, chunk] : chunks_) {
      if (!rules_.must_finish) continue;
      for (std::uint64_t step = 0; step < rules_.last_step; ++step) {
        if (!chunk.applied.contains(step)) {
          problem("step {} was never applied to chunk {}", step, number);
        }
      }
    }
    return std::move(problems_);
  }

 private:
  struct Chunk {
    std::uint64_t version = 0;
    std::map<std::uint64_t, std::set<std::uint64_t>> tiles;  // by step
    std::set<std::uint64_t> applied;
    std::map<std::uint32_t, std::uint64_t> clocks;  // of active workers
    std::map<std::uint32_t, std::uint64_t> last;    // of workers, idle or not
  };

  template <typename... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  Rules rules_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> asked_;  // → the clock
  std::map<std::uint32_t, Chunk> chunks_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check(const Rules& rules, const std::vector<std::uint32_t>& chunks,
                               const std::vector<Event>& history) {
  Checker checker(rules, chunks);
  for (const Event& event : history) std::visit(checker, event);
  return checker.finish();
}

}  // namespace paceline::sim

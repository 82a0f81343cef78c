// A ServerCore that is told things in few words and answers in sentences (describe.h).
#pragma once

#include "exchange/ps/describe.h"
#include "exchange/ps/server_core.h"

namespace paceline {

// Steps of four tiles of one example each, 25 of them in an epoch; client 1 is incarnation
// 1 and so on; shares are cut by assignment 1 unless said otherwise.
struct ScriptedServer {
  static ServerCore::Options options(std::vector<std::uint32_t> chunks = {0}) {
    ServerCore::Options options;
    options.grid = {.examples = 100, .batch = 4, .tile = 1};
    options.rules.nonfinite = Nonfinite::kIgnore;  // so that no step waits for scalars
    options.chunks = std::move(chunks);
    options.last_version = 1000;
    return options;
  }

  explicit ScriptedServer(const ServerCore::Options& opts = options()) : core(opts) {}

  static wire::Push push_of(std::uint32_t chunk, std::uint64_t step, Range tiles) {
    wire::Push push;
    push.set_chunk(chunk);
    push.set_step(step);
    push.mutable_tiles()->set_begin(tiles.begin);
    push.mutable_tiles()->set_end(tiles.end);
    push.set_weight(static_cast<double>(tiles.size()));
    push.set_loss(0.5 * static_cast<double>(tiles.size()));
    push.set_correct(tiles.size() / 2);
    push.set_examples(tiles.size());
    push.set_scale(1);
    return push;
  }

  // Sync.
  Lines push(std::uint32_t worker, std::uint32_t chunk, std::uint64_t step, Range tiles,
             std::uint32_t assignment = 1) {
    return lines(core.push({worker, worker, assignment, step}, push_of(chunk, step, tiles)));
  }
  Lines pull(std::uint32_t worker, std::uint32_t chunk, std::uint64_t version) {
    wire::Pull pull;
    pull.set_chunk(chunk);
    pull.set_version(version);
    return lines(core.pull(worker, worker, pull));
  }
  // One worker does all of a step on all chunks.
  void whole_step(std::uint64_t step, const std::vector<std::uint32_t>& chunks = {0}) {
    for (const std::uint32_t chunk : chunks) push(9, chunk, step, {0, 4});
  }

  // Async.
  Lines push_lease(std::uint32_t worker, std::uint32_t chunk, std::uint64_t step,
                   bool last_lease = false) {
    wire::Push push = push_of(chunk, step, {0, 4});
    push.set_last_lease(last_lease);
    push.set_clock(++clocks[{worker, chunk}]);
    return lines(core.push({worker, worker, 0, 0}, push));
  }
  Lines pull_latest(std::uint32_t worker, std::uint32_t chunk = 0) {
    wire::Pull pull;
    pull.set_chunk(chunk);
    pull.set_latest(true);
    const ServerCore::Actions& actions = core.pull(worker, worker, pull);
    for (const ServerAction& action : actions) {
      const auto* send = std::get_if<SendParams>(&action);
      if (send != nullptr && send->clock) clocks[{worker, chunk}] = *send->clock;
    }
    return lines(actions);
  }

  Lines fence(std::uint32_t number, const std::vector<std::uint32_t>& dead) {
    wire::Fence fence;
    fence.set_number(number);
    for (const std::uint32_t incarnation : dead) fence.add_dead(incarnation);
    return lines(core.fence(fence));
  }
  wire::Complete report() {
    return std::get<wire::Complete>(std::get<SendToChief>(core.report().front()).message);
  }

  ServerCore core;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> clocks;  // by worker and chunk
};

// "1: 3" for client 1, which is sent parameters and known to hold version 3; "1: ?" when what
// it holds is not known.
inline Lines held_by_receivers(const ServerCore::Actions& actions) {
  Lines held;
  for (const ServerAction& action : actions) {
    const auto* send = std::get_if<SendParams>(&action);
    if (send == nullptr) continue;
    held.push_back(
        fmt::format("{}: {}", send->client, send->since ? std::to_string(*send->since) : "?"));
  }
  return held;
}

}  // namespace paceline

#include "train/memory.h"

#include <bit>

#include "base/error.h"
#include "base/units.h"
#include "data/catalogue/open.h"
#include "train/run.h"
#include "train/server_options.h"

namespace paceline {
namespace {

constexpr std::uint64_t kProgram = 12'000'000;  // measured: a role with an empty model

}  // namespace

std::vector<RoleMemory> estimate_memory(const RunConfig& config, const Workload& workload) {
  const std::uint64_t vector = workload.chunks.floats() * sizeof(float);
  const std::uint64_t slots = Optimizer(config.optimizer).slots();
  const std::uint64_t train = workload.data.memory_bytes;
  const bool unnamed = lacks_rows(config.data);  // rows are mapped, not held
  const std::uint64_t test = unnamed ? 0 : estimate_dataset(config.data, Split::kTest).memory_bytes;
  if (trains_rows(config)) {  // a row has 8 bytes, whatever the optimizer keeps
    return {{"local", 1, 2 * vector, 0, 0, 0, kProgram}};
  }
  if (config.exchange == ExchangeKind::kLocal) {
    const std::uint64_t copies = config.mode == Mode::kAsync ? 3 : 0;  // views and scratch
    return {{"local", 1, vector * (2 + copies * config.workers),
             vector * (config.workers + (config.deterministic ? 1 : 0)),
             vector * slots * (1 + copies * config.workers), train + test, kProgram}};
  }
  const RoleMemory evaluator{"evaluator", 1, 2 * vector, 0, 0, test, kProgram};
  const RoleMemory chief{"chief", 1, 2 * vector, 0, 2 * slots * vector, 0, kProgram};
  if (config.exchange == ExchangeKind::kAllReduce) {
    const RoleMemory worker{"worker",       config.workers, vector,  vector,
                            slots * vector, train,          kProgram};
    // In the first worker: versions that wait for their test or their save.
    const RoleMemory keeper{"keeper", 1, kMostPins * vector, 0, kMostPins * slots * vector, 0, 0};
    return {chief, worker, keeper, evaluator};
  }
  if (exchanges_rows(config)) {
    // A share's rows are few beside the table. While a version is tested or saved, the rows that
    // later steps touch are kept as they were: with their numbers, and some of them twice. These
    // are as many as the data has keys, and all of the table at most.
    const std::uint64_t table = workload.chunks.floats();
    const std::uint64_t touched =
        unnamed ? table : std::min(table, open_rows(config.data, Split::kTrain)->info().keys);
    return {{"chief", 1, 0, 0, 0, 0, kProgram},
            {"server", config.servers, (2 * vector + 12 * touched) / config.servers, 0, 0, 0,
             2 * kProgram},
            {"worker", config.workers, 0, 0, 0, train, 2 * kProgram},
            {"evaluator", 1, 0, 0, 0, test, 2 * kProgram}};
  }
  const std::uint64_t shard = vector / config.servers;
  // Two versions and the pinned ones; the sum, and one contribution of every worker arriving,
  // which with --deterministic is up to a node of each size.
  const std::uint64_t nodes =
      config.deterministic ? 2 * static_cast<std::uint64_t>(std::bit_width(workload.grid.tiles(0)))
                           : 1;
  // The optimizer's state goes from version to version in place, unless a run may have to go back.
  // All servers have as many chunks.
  const std::uint64_t states = server_options(config, workload, 0, 0).may_go_back() ? 2 : 1;
  const RoleMemory server{"server",
                          config.servers,
                          (2 + kMostPins) * shard,
                          (1 + nodes * config.workers) * shard,
                          (states + kMostPins) * slots * shard,
                          0,
                          kProgram + 2 * vector / config.servers};
  const bool own_tests = config.mode != Mode::kSync && config.worker_eval;
  const RoleMemory worker{
      "worker", config.workers, vector, (1 + nodes) * vector, 0, train + (own_tests ? test : 0),
      kProgram};
  return {chief, server, worker, evaluator};
}

std::uint64_t total(const std::vector<RoleMemory>& roles) {
  std::uint64_t bytes = 0;
  for (const RoleMemory& role : roles) bytes += role.all();
  return bytes;
}

void check_memory(const std::vector<RoleMemory>& roles, std::uint64_t available,
                  const std::string& advice) {
  const std::uint64_t needed = total(roles);
  if (needed <= available) return;
  std::string lines;
  for (const RoleMemory& role : roles) {
    lines += fmt::format(
        "\n  {} × {}: {} each (parameters {}, gradients {}, optimizer {}, data {})", role.count,
        role.role, format_bytes(role.each()), format_bytes(role.parameters),
        format_bytes(role.gradients), format_bytes(role.state), format_bytes(role.data));
  }
  throw ResourceError(
      "the run needs about {} of memory and {} are available:{}\n{}, or raise --memory-limit if "
      "you "
      "know better",
      format_bytes(needed), format_bytes(available), lines, advice);
}

}  // namespace paceline

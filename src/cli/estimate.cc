#include "cli/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/checkpoints.h"
#include "data/catalogue/open.h"
#include "data/sparse/rows_dataset.h"
#include "train/memory.h"
#include "train/row_traffic.h"
#include "train/workload.h"

namespace paceline {
namespace {

// The tensors, and what each costs a worker per step on the wire: pushed and pulled, or summed
// over a ring, or as factors when these are cheaper. Of rows by key it is for others to say.
nlohmann::json describe_exchange(const RunConfig& config, const Workload& workload) {
  nlohmann::json tensors = describe_tensors(workload.model->layout());
  const bool ring = config.exchange == ExchangeKind::kAllReduce;
  const auto workers = static_cast<double>(config.workers);
  const auto matrices = workload.model->matrices();
  const auto factored =
      choose_factored(matrices, workload.grid.batch, config.workers, config.factors);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& described = workload.model->layout().tensors[i];
    const auto is_this = [&](const Matrix& matrix) { return matrix.floats == described.floats; };
    nlohmann::json& tensor = tensors[i];
    double bytes = tensor["bytes"];
    bytes *= config.wire == WireFormat::kBf16 ? 0.5 : 1;
    if (config.exchange == ExchangeKind::kLocal) {
      bytes = 0;
    } else {
      bytes *= 2 * (ring ? (workers - 1) / workers : 1);
    }
    const auto matrix = std::find_if(matrices.begin(), matrices.end(), is_this);
    if (ring && matrix != matrices.end()) {
      const FactorCost cost =
          cost_of(*matrix, workload.grid.batch, config.workers, config.factors.link_gbit);
      const bool chosen = std::any_of(factored.begin(), factored.end(), is_this);
      tensor["as"] = chosen ? "factors" : "matrix";
      tensor["matrix_seconds"] = cost.dense_seconds;
      tensor["factor_seconds"] = cost.factor_seconds;
      if (chosen) bytes = cost.factor_bytes;
    }
    // Of a table only the rows that a step touches: all of them at most.
    if (config.exchange == ExchangeKind::kPs && described.table &&
        config.transfer == Transfer::kSparse) {
      tensor["as"] = "rows";
    }
    if (!exchanges_rows(config)) tensor["step_bytes"] = static_cast<std::uint64_t>(bytes);
  }
  return tensors;
}

nlohmann::json describe_servers(const ChunkMap& map) {
  nlohmann::json servers = nlohmann::json::array();
  for (std::uint32_t server = 0; server < map.servers(); ++server) {
    std::uint64_t bytes = 0;
    const auto chunks = map.chunks_of(server);
    for (const std::uint32_t chunk : chunks) {
      bytes += map.floats_of(chunk).size() * sizeof(float);
    }
    servers.push_back(
        {{"name", "server" + std::to_string(server)}, {"chunks", chunks.size()}, {"bytes", bytes}});
  }
  return servers;
}

nlohmann::json describe_roles(const std::vector<RoleMemory>& memory) {
  nlohmann::json roles = nlohmann::json::array();
  for (const RoleMemory& role : memory) {
    roles.push_back({{"name", role.role},
                     {"count", role.count},
                     {"parameters_bytes", role.parameters},
                     {"gradients_bytes", role.gradients},
                     {"optimizer_bytes", role.state},
                     {"data_bytes", role.data},
                     {"each_bytes", role.each()}});
  }
  return roles;
}

// Only the rows travel that a share touches: the data tells how many these are.
void add_row_traffic(const RunConfig& config, const Workload& workload, nlohmann::json& estimate) {
  if (lacks_rows(config.data)) {
    estimate.erase("step_bytes_per_worker");
    const Share share{0, even_part(workload.grid.tiles(0), config.workers, 0)};
    estimate["step_bytes_are"] =
        fmt::format("about {} for each row of the table that a worker's part of a step touches",
                    kKeyBytes + numbers_bytes(config, share));
    return;
  }
  const RowTraffic traffic = estimate_row_traffic(config, workload);
  estimate["step_rows_per_worker"] = std::llround(traffic.rows);
  estimate["step_bytes_per_worker"] = std::llround(traffic.bytes);
  estimate["step_bytes_are"] =
      fmt::format("an estimate: the rows of the table that {} steps of this data touch, on average",
                  traffic.shares);
}

// Of rows that nobody has named yet: a step's worth, so that a step can be described.
DatasetInfo unnamed_rows(const RunConfig& config) {
  return rows_info(config.data.rows.format.bits, config.batch, "rows/train");
}

}  // namespace

nlohmann::json estimate_run(const RunConfig& config) {
  const bool unnamed = lacks_rows(config.data);
  const Workload workload =
      unnamed ? make_workload(config, unnamed_rows(config)) : make_workload(config);
  check_batch(config, workload.data);
  const auto memory = estimate_memory(config, workload);
  nlohmann::json tensors = describe_exchange(config, workload);
  std::uint64_t step_bytes = 0;
  for (const nlohmann::json& tensor : tensors) step_bytes += tensor.value("step_bytes", 0ULL);
  nlohmann::json estimate = {
      {"model", config.model.name},          {"parameters", workload.chunks.floats()},
      {"step_bytes_per_worker", step_bytes}, {"memory_bytes", total(memory)},
      {"tensors", std::move(tensors)},       {"servers", describe_servers(workload.chunks)},
      {"roles", describe_roles(memory)}};
  if (exchanges_rows(config)) add_row_traffic(config, workload, estimate);
  if (unnamed) {
    estimate["unknown"] =
        fmt::format("how many examples and steps there are{}: name the data with --data-file",
                    exchanges_rows(config) ? ", and how many rows they touch" : "");
    if (exchanges_rows(config)) {
      estimate["memory_bytes_are"] = "an upper bound: as if steps touched every row of the table";
    }
    return estimate;
  }
  estimate["examples"] = workload.data.examples;
  estimate["steps_per_epoch"] = workload.grid.steps_per_epoch();
  estimate["tiles_per_step"] = workload.grid.tiles(0);
  estimate["steps"] = workload.last_version;
  return estimate;
}

}  // namespace paceline

#include "train/workload.h"

#include "base/error.h"
#include "checkpoint/weights.h"
#include "data/catalogue/open.h"
#include "data/sparse/rows_dataset.h"
#include "model/catalogue/registry.h"
#include "optim/groups.h"
#include "optim/sum.h"

namespace paceline {
namespace {

// With what a run decides about reading them.
DataOptions training_data(const RunConfig& config) {
  DataOptions options = config.data;
  options.images.seed = config.seed;
  options.text.order = config.order;
  return options;
}

}  // namespace

std::unique_ptr<Model> make_model(const RunConfig& config, const DatasetInfo& data) {
  auto model = make_model(ModelSetup{config.model, data, config.seed, config.run_dir});
  // Before the run directory is made, the model is asked for its layout only.
  const auto checkpoints = config.run_dir / "checkpoints";
  if (!config.run_dir.empty() && has_start(checkpoints)) load_frozen(checkpoints, *model);
  return model;
}

std::unique_ptr<Dataset> open_training(const RunConfig& config) {
  const DataOptions options = training_data(config);
  if (exchanges_rows(config)) {
    return make_rows_dataset(open_rows(options, Split::kTrain), options.limit, "rows/train",
                             RowKeys::kPlaces);
  }
  return open_dataset(options, Split::kTrain);
}

RowDeal deal_rows(const Workload& workload) {
  return {workload.chunks.floats(), workload.chunks.servers()};
}

void check_batch(const RunConfig& config, const DatasetInfo& data) {
  if (config.batch <= data.examples) return;
  throw ConfigError("--batch {} is larger than the training set ({}, examples: {}): use {} or less",
                    config.batch, data.name, data.examples, data.examples);
}

Workload make_workload(const RunConfig& config) {
  return make_workload(config, estimate_dataset(training_data(config), Split::kTrain));
}

Workload make_workload(const RunConfig& config, const DatasetInfo& data) {
  const std::uint64_t batch = std::min(config.batch, data.examples);
  const Grid grid{data.examples, batch, config.tile > 0 ? config.tile : default_tile(batch)};
  auto model = make_model(config, data);
  const std::uint32_t servers = std::max(1U, server_count(config));
  if (servers > model->layout().size) {
    throw ConfigError("{} servers for {} parameters: use fewer --servers", servers,
                      model->layout().size);
  }
  const std::uint64_t size = model->layout().size;
  const ChunkMap chunks(size, servers, exchanges_rows(config) ? size : kMostChunkFloats);
  StepRules rules{config.clip, config.nonfinite, 1};
  if (config.reduction == Reduction::kSum) {
    const std::uint64_t usual = is_rows(config.data) ? batch : config.workers;
    rules.sum_factor = config.sum_factor > 0 ? config.sum_factor : static_cast<double>(usual);
  }
  auto groups = resolve_groups(model->layout(), config.groups);
  const Schedule schedule(config.schedule, batch, data.examples,
                          static_cast<double>(config.epochs));
  const std::uint64_t last = grid.steps_per_epoch() * config.epochs;
  OrderOptions order = config.order;
  order.seed = config.seed;
  return {data,    grid,
          last,    std::move(model),
          chunks,  Order(order, data.examples),
          rules,   std::move(groups),
          schedule};
}

std::string steps_in_words(const RunConfig& config, const Grid& grid) {
  std::string order = "in full random order";
  if (config.order.kind == OrderKind::kSequential) order = "as the data lies";
  if (config.order.kind == OrderKind::kBlocks) {
    order = fmt::format("in random blocks of {} and windows of {}", config.order.block,
                        config.order.window);
  }
  return fmt::format("{} examples in batches of {}, {}, seed {}", grid.examples, grid.batch, order,
                     config.seed);
}

void set_version(CheckpointInfo& info, const Grid& grid, std::uint64_t version) {
  info.version = version;
  info.examples = grid.examples_before(version);
  info.epoch = grid.epoch_of(version);
}

void expect_finite(const RunConfig& config, std::uint64_t version, std::span<const float> values) {
  if (config.nonfinite == Nonfinite::kIgnore || all_finite(values)) return;
  throw DivergedError(fmt::format("a parameter after step {}", version));
}

}  // namespace paceline

// What a configuration stands for: the grid of steps, the model, the chunks, the rules.
// Every role builds the same from the same config.toml.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "config/run_config.h"
#include "data/order.h"
#include "data/share.h"
#include "exchange/chunks.h"
#include "exchange/options.h"
#include "exchange/row_deal.h"
#include "model/model.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"

namespace paceline {

std::unique_ptr<Model> make_model(const RunConfig& config, const DatasetInfo& data);

struct Workload {
  DatasetInfo data;  // of the training split
  Grid grid;
  std::uint64_t last_version = 0;  // steps of the whole run
  std::unique_ptr<Model> model;
  ChunkMap chunks;
  Order order;
  StepRules rules;
  std::vector<GroupRange> groups;
  Schedule schedule;
};
// Reads the headers of the data. Throws DataError, ConfigError.
Workload make_workload(const RunConfig& config);
// The same, of data that are known to be like this.
Workload make_workload(const RunConfig& config, const DatasetInfo& data);

// Throws ConfigError when a step has more examples than there are.
void check_batch(const RunConfig& config, const DatasetInfo& data);

// How the rows of a table are dealt to servers, of runs that exchange rows by key. There is one
// chunk per server.
RowDeal deal_rows(const Workload& workload);

// The training examples of this run.
std::unique_ptr<Dataset> open_training(const RunConfig& config);

// What a step of this run is, for people and for comparing.
std::string steps_in_words(const RunConfig& config, const Grid& grid);

// Makes it that of another version.
void set_version(CheckpointInfo& info, const Grid& grid, std::uint64_t version);

// Throws DivergedError when these parameters are of no use to go on from, unless nobody is to look.
void expect_finite(const RunConfig& config, std::uint64_t version, std::span<const float> values);

}  // namespace paceline

#include "cli/actions.h"

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/estimate.h"
#include "config/recipe.h"
#include "data/catalogue/open.h"
#include "data/fetch.h"
#include "data/known_sets.h"
#include "infer/evaluate.h"
#include "lab/bench.h"
#include "train/ideal.h"
#include "train/role.h"
#include "train/run.h"
#include "train/workload.h"

namespace paceline {
namespace {

// Once for all roles, which then look at the sizes only.
void fetch_or_verify(const DataOptions& data, const Progress& progress) {
  if (!is_known_set(data.name)) return;
  const KnownSet set = known_set(data.name);
  const std::filesystem::path folder = data.dir / data.name;
  if (is_complete(set, folder)) return verify_files(set, folder);
  fetch(set, data.dir, progress);
}

void train_action(const RunConfig& wanted, Reporter& reporter) {
  RunConfig config = wanted;
  // The guess is written down: what is tested or predicted later must be of the same format.
  if (is_rows(config.data) && config.data.rows.format.format == RowFormat::kAuto) {
    config.data.rows.format.format = format_of(config.data.text.file.string());
  }
  // Whoever reads the output may leave early, as `head` does: the run goes on.
  std::signal(SIGPIPE, SIG_IGN);
  fetch_or_verify(config.data, [&](std::string_view line) { reporter.notice(std::string(line)); });
  if (is_rows(config.data)) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      open_rows(config.data, split,
                {[&](const std::string& line) { reporter.notice(line); },
                 [&](const std::string& line) { reporter.warning(line); }});
    }
  }
  check_batch(config, estimate_dataset(config.data, Split::kTrain));
  train(config, config_toml(config), reporter);
}

nlohmann::json ideal_action(const RunConfig& config, Reporter& reporter) {
  fetch_or_verify(config.data, [&](std::string_view line) { reporter.notice(std::string(line)); });
  const Ideal ideal = measure_ideal(config);
  return {{"examples_per_step", ideal.examples_per_step},
          {"steps", ideal.steps},
          {"step_seconds", ideal.step_seconds},
          {"examples_per_second", ideal.examples_per_second}};
}

void role_action(const RoleOptions& options) {
  start_logging(options.name, {}, options.run.log_level);
  RoleContext role{options.run,         digest(read_text(options.config)),
                   options.name,        options.chief,
                   options.announce_fd, options.failure_fd};
  if (options.role == "chief") return run_chief(role);
  if (options.role == "server") return run_server(role);
  const bool ring = options.run.exchange == ExchangeKind::kAllReduce;
  if (options.role == "worker") return ring ? run_ring_worker(role) : run_worker(role);
  run_evaluator(role);
}

}  // namespace

Actions make_actions() {
  Actions actions;
  actions.train = train_action;
  actions.ideal = ideal_action;
  actions.estimate = estimate_run;
  actions.evaluate = evaluate;
  actions.predict = predict;
  actions.export_weights = export_trained;
  actions.role = role_action;
  actions.bench = [](const BenchOptions& options, std::ostream& out) {
    run_bench({options.names, options.json, options.list, options.data_dir}, out, std::cerr);
  };
  return actions;
}

}  // namespace paceline

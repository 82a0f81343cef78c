#include "cli/actions.h"

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/memory_file.h"
#include "base/log.h"
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

constexpr std::size_t kMostSpecBytes = std::size_t{64} << 20;

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
  train(config, reporter);
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
  RoleContext role = read_role(content_of(options.spec_fd, kMostSpecBytes));
  role.status_fd = options.announce_fd;
  role.failure_fd = options.failure_fd;
  start_logging(role.name, {}, role.config.log_level);
  run_role(role);
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

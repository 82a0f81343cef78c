#include "train/run.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file/file.h"
#include "base/file/lock.h"
#include "base/json.h"
#include "base/plugin.h"
#include "base/process.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "config/recipe.h"
#include "data/catalogue/open.h"
#include "observe/summary_file.h"
#include "train/memory.h"
#include "train/placement.h"
#include "train/room.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// Held while a run directory is trained in: two runs there would mix what they write.
FileLock lock_run_dir(const fs::path& dir) {
  if (auto lock = FileLock::try_lock(dir)) return std::move(*lock);
  throw ConfigError("another process is training in {}: wait for it, or choose another --run-dir",
                    dir.string());
}

void make_folder(const fs::path& folder) {
  try {
    create_folders(folder);
  } catch (const DataError& error) {
    throw DataError(error, "cannot make the run directory {}", folder.string());
  }
}

// Null also when it is damaged: what it said is known no more.
nlohmann::json summary_of(const fs::path& run_dir) {
  try {
    return read_summary(run_dir);
  } catch (const DataError&) {
    return nullptr;
  }
}

bool is_complete(const fs::path& run_dir) {
  return text_at(summary_of(run_dir), "status") == "complete";
}

// Nobody needs them when the run is over; one that goes on may have other images.
void remove_features(const fs::path& run_dir) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run_dir, ignored)) {
    if (entry.path().filename().string().starts_with("features-")) files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file, ignored);
}

// The lock on it is taken. A run that ended before its first checkpoint makes room.
void fill_run_dir(const fs::path& dir, const fs::path& resume) {
  std::error_code ignored;
  if (resume != dir && (fs::exists(dir / "config.toml") || fs::exists(dir / "metrics.jsonl"))) {
    if (!list_checkpoints(dir).empty() || !fs::exists(dir / "config.toml") || is_complete(dir)) {
      throw ConfigError(
          "{} already has a run: choose another --run-dir, or go on from it with "
          "--resume {}",
          dir.string(), dir.string());
    }
    fs::remove(dir / "metrics.jsonl", ignored);
  }
  fs::remove(dir / "summary.json", ignored);  // it tells of the run before
  if (resume != dir) fs::remove(dir / "checkpoints" / "start.ckpt", ignored);
  remove_features(dir);  // of a run that was killed
  make_folder(dir / "logs");
  make_folder(dir / "checkpoints");
}

// Versions count steps, so a step must be what it was.
void check_resume(const RunConfig& config, const Workload& workload, Reporter& reporter) {
  if (config.resume.empty()) return;
  const fs::path found = find_checkpoint(config.resume);
  if (const auto all = list_checkpoints(config.resume); !all.empty() && all.back() != found) {
    reporter.warning(fmt::format("{} is damaged: going on from {}", all.back().string(),
                                 found.filename().string()));
  }
  const CheckpointReader reader(found);
  reader.expect_layout(workload.model->layout());
  const CheckpointInfo& info = reader.info();
  if (const std::string steps = steps_in_words(config, workload.grid); info.steps != steps) {
    throw ConfigError(
        "cannot resume {}: it was trained on {}, and this run would go on with {}. Use the data, "
        "batch, order and seed it was started with",
        config.resume.string(), info.steps, steps);
  }
  if (!info.applied.empty() && config.mode == Mode::kSync) {
    throw ConfigError(
        "cannot resume {} in sync mode: it was stopped in the middle of an "
        "asynchronous epoch. Use --mode async or ssp, or an earlier checkpoint",
        config.resume.string());
  }
  if (info.version >= workload.last_version) {
    throw ConfigError("{} has been trained for {} epoch(s) already, and --epochs is {}: raise it",
                      config.resume.string(), info.epoch, config.epochs);
  }
  if (const std::string optimizer = name_of(config.optimizer.kind); info.optimizer != optimizer) {
    reporter.warning(fmt::format("the checkpoint holds the state of {}: {} begins with none",
                                 info.optimizer, optimizer));
  }
}

// Whether the run ended with a gradient that is not finite at this very checkpoint.
bool leads_nowhere(const RunConfig& config, const fs::path& checkpoint) {
  const auto examples = count_at(summary_of(config.run_dir), "examples_total");
  return config.mode == Mode::kSync && examples &&
         *examples == CheckpointReader(checkpoint).info().examples;
}

// After a run that did not come to its end: what there is to go on from, and what must change.
std::string what_remains(const RunConfig& config, ExitCode code) {
  const bool diverged = code == ExitCode::kDiverged;
  std::string words;
  if (diverged) {
    words = trains_rows(config) && config.mode != Mode::kSync
                ? ". Lower --rate"
                : ". Lower --rate or set --clip; --nonfinite skip leaves such steps out";
  }
  fs::path dir = config.run_dir;
  if (list_checkpoints(dir).empty() && !config.resume.empty()) dir = config.resume;
  const auto checkpoints = list_checkpoints(dir);
  if (checkpoints.empty()) {
    words += "; nothing was saved yet";
    if (code != ExitCode::kCommunication) return words;
    return words + ": start anew" +
           (config.checkpoint_every == 1 ? "" : ", with --checkpoint-every 1 to save every epoch");
  }
  words += fmt::format("; the last checkpoint is {}", checkpoints.back().string());
  if (diverged && leads_nowhere(config, checkpoints.back())) {
    return words +
           ", and it goes no further from there: remove it to go on from the one before, "
           "or start anew";
  }
  return words +
         fmt::format(". {}: paceline train --resume {}{}",
                     diverged                  ? "Go on from it with, say"
                     : code == ExitCode::kData ? "When that is mended, go on with"
                                               : "Go on with",
                     dir.string(),
                     diverged ? fmt::format(" --rate {:g}", config.schedule.rate / 10) : "");
}

void look_for_room(const RunConfig& config, const Workload& workload, Reporter& reporter) {
  std::error_code unknown;
  const fs::space_info space = fs::space(config.run_dir, unknown);
  if (unknown) return;
  const std::string sentence =
      check_room(config, checkpoint_bytes(config, workload), space.available);
  if (!sentence.empty()) reporter.warning(sentence);
}

// Values of another run, where there are such.
void start_from_another(const RunConfig& config, const Start& start, const Model& model,
                        Reporter& reporter) {
  write_start(config, start, model);
  if (!start.anew.empty()) {
    reporter.notice(fmt::format("{} has no {} of this shape: these start anew",
                                config.init.string(), join(start.anew, ", ")));
  }
}

}  // namespace

void train(const RunConfig& config, Reporter& reporter) {
  use_threads(with_threads(config).model.threads);  // when it trains in this process
  std::optional<Workload> workload = make_workload(config);
  check_resume(config, *workload, reporter);
  check_memory(estimate_memory(config, *workload),
               config.memory_limit > 0 ? config.memory_limit : available_memory(),
               is_rows(config.data) ? "Lower --bits" : "Use fewer workers");
  std::optional<Start> start;
  if (!config.init.empty() && config.resume.empty()) start = make_start(config, *workload->model);
  make_folder(config.run_dir);
  look_for_room(config, *workload, reporter);
  const FileLock lock = lock_run_dir(config.run_dir);
  fill_run_dir(config.run_dir, config.resume);
  write_atomically(config.run_dir / "config.toml", config_toml(config));
  if (is_text(config.data)) write_vocabularies(config.data, config.run_dir);
  if (is_image_folder(config.data)) write_classes(config.data, config.run_dir);
  if (start) start_from_another(config, *std::exchange(start, {}), *workload->model, reporter);
  if (!config.init.empty() && !config.resume.empty()) keep_start(config);
  const RunSpec spec = make_run_spec(config, workload->data);
  workload.reset();  // its memory is needed
  reporter.notice("run directory " + config.run_dir.string());
  try {
    if (trains_rows(config)) {
      train_rows_with_threads(spec, reporter);
    } else if (config.exchange == ExchangeKind::kLocal) {
      train_with_threads(spec, reporter);
    } else {
      train_with_processes(spec, reporter);
    }
    remove_features(config.run_dir);
  } catch (Error& error) {
    remove_features(config.run_dir);
    try {
      error.add_remark(what_remains(config, error.code()));
    } catch (const Error& unreadable) {  // what the run failed with says more
      error.add_remark(fmt::format("; what it has saved cannot be read: {}", unreadable.what()));
    }
    throw;
  }
}

}  // namespace paceline

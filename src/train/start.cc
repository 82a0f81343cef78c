#include "train/start.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "config/recipe.h"
#include "train/workload.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

// All tensors that a run has: the learned ones, and those it was started with.
class Source {
 public:
  explicit Source(const fs::path& run) {
    const fs::path newest = find_checkpoint(run);
    readers_.push_back(std::make_unique<CheckpointReader>(newest));
    const fs::path start = start_path(newest.parent_path());
    if (fs::exists(start)) readers_.push_back(std::make_unique<CheckpointReader>(start));
  }

  // Whether there is one of this name and shape; fills `values` with it.
  bool read(const Tensor& wanted, std::span<float> values) const {
    for (const auto& reader : readers_) {
      for (const Tensor& tensor : reader->info().layout.tensors) {
        if (tensor.name != wanted.name || tensor.shape != wanted.shape) continue;
        reader->read(0, tensor.floats, values);
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<CheckpointReader>> readers_;
};

std::span<float> part(std::vector<float>& values, const Tensor& tensor) {
  return std::span(values).subspan(tensor.floats.begin, tensor.floats.size());
}

}  // namespace

Start make_start(const RunConfig& config, const Model& model) {
  Start start;
  start.parameters.resize(model.layout().size);
  start.frozen.resize(model.frozen().size);
  model.initialize(config.seed, start.parameters);
  if (config.init.empty()) return start;
  const Source source(config.init);
  for (const Tensor& tensor : model.frozen().tensors) {
    if (source.read(tensor, part(start.frozen, tensor))) continue;
    throw ConfigError(
        "--init {} has no tensor {} of this shape, which is frozen: choose a run with the same "
        "model and images of as many channels, or --train all",
        config.init.string(), tensor.name);
  }
  for (const Tensor& tensor : model.layout().tensors) {
    if (!source.read(tensor, part(start.parameters, tensor))) start.anew.push_back(tensor.name);
  }
  if (start.frozen.empty() && start.anew.size() == model.layout().tensors.size()) {
    throw ConfigError("--init {} has none of the tensors of {}: choose a run with the same model",
                      config.init.string(), config.model.name);
  }
  return start;
}

void keep_start(const RunConfig& config) {
  const fs::path file = start_path(config.run_dir / "checkpoints");
  const fs::path from = start_path(find_checkpoint(config.resume).parent_path());
  if (fs::exists(from) && from != file) write_atomically(file, read_text(from));
}

void write_start(const RunConfig& config, const Start& start, const Model& model) {
  CheckpointInfo info;
  info.layout = all_tensors(model);
  info.model = config.model.name;
  info.optimizer = name_of(config.optimizer.kind);
  info.steps = "none: what the run starts from";
  info.config = config_toml(config);
  std::vector<float> all = start.frozen;
  all.insert(all.end(), start.parameters.begin(), start.parameters.end());
  write_checkpoint(start_path(config.run_dir / "checkpoints"), info,
                   [&](std::uint64_t, Range floats, std::span<float> out) {
                     std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(floats.begin),
                                 floats.size(), out.begin());
                   });
}

void load_start(const RunConfig& config, const Model& model, std::span<float> parameters,
                Activity* activity) {
  const fs::path checkpoints = config.run_dir / "checkpoints";
  if (config.init.empty()) return model.initialize(config.seed, parameters);
  const CheckpointReader reader(start_path(checkpoints), activity);
  reader.expect_layout(all_tensors(model));
  const std::uint64_t frozen = model.frozen().size;
  reader.read(0, {frozen, frozen + parameters.size()}, parameters);
}

std::unique_ptr<ValueSource> open_checkpoint(const RunSpec& spec, Activity* activity) {
  if (spec.checkpoint.empty()) return nullptr;
  return std::make_unique<CheckpointReader>(spec.checkpoint, activity);
}

std::uint64_t usable_slots(const RunSpec& spec, const ValueSource& checkpoint) {
  const CheckpointInfo& info = checkpoint.info();
  return info.optimizer == name_of(spec.config.optimizer.kind) ? info.slots : 0;
}

void load_parameters(const RunSpec& spec, const Model& model, std::span<float> parameters,
                     std::span<float> state, Activity* activity) {
  const auto checkpoint = open_checkpoint(spec, activity);
  if (!checkpoint) return load_start(spec.config, model, parameters, activity);
  const Range all{0, parameters.size()};
  checkpoint->read(0, all, parameters);
  for (std::uint64_t slot = 0; slot < usable_slots(spec, *checkpoint); ++slot) {
    checkpoint->read(1 + slot, all, state.subspan(slot * all.size(), all.size()));
  }
}

}  // namespace paceline

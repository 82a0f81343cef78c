#include "config/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "config/recipe.h"
#include "config/run_dir.h"
#include "config/settings.h"
#include "data/catalogue/registry.h"
#include "data/known_sets.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

RunConfig base_config(const ConfigSources& sources, const Environment& environment) {
  const auto resume = sources.flags.find("resume");
  if (resume == sources.flags.end()) {
    if (sources.recipe.empty()) {
      RunConfig config;
      config.recipe = "custom";
      return config;
    }
    return read_recipe(find_recipe(sources.recipe, environment.recipes));
  }
  if (!sources.recipe.empty()) {
    throw ConfigError("--resume {} brings its own configuration: leave out the recipe '{}'",
                      resume->second, sources.recipe);
  }
  const fs::path file = fs::path(resume->second) / "config.toml";
  if (!fs::exists(file)) {
    throw ConfigError("--resume {}: not a run directory: it has no config.toml", resume->second);
  }
  RunConfig config = read_config(file);
  config.run_dir = resume->second;
  return config;
}

void apply_flags(const std::map<std::string, std::string>& flags, RunConfig& config) {
  for (const auto& [key, value] : flags) {
    const Setting* setting = find_setting(key);
    PACELINE_CHECK(setting != nullptr);
    try {
      setting->parse(config, value);
    } catch (const ConfigError& error) {
      throw ConfigError(error, "--{}", key);
    }
  }
}

NamedSettings named_by(const std::map<std::string, std::string>& flags) {
  NamedSettings named;
  for (const auto& [key, value] : flags) named[key] = "--" + key;
  return named;
}

// A file of prepared reviews knows how many words it has, and which of its rows are read together:
// better than a recipe.
void adopt_prepared(const std::map<std::string, std::string>& flags, RunConfig& config) {
  const DatasetKind& kind = dataset_kind(config.data.name);
  const bool own_reviews = kind.examples == Examples::kTexts && kind.origin == Origin::kOwnFiles;
  if (!own_reviews || flags.contains("resume")) return;
  const auto size = prepared_size(config.data.text);
  if (!size) return;
  if (!flags.contains("vocabulary")) config.data.text.vocabulary = size->vocabulary;
  if (!flags.contains("length")) config.data.text.length = size->length;
  if (!flags.contains("cut") && size->cut) config.data.text.cut = *size->cut;
  if (!flags.contains("order")) config.order.kind = OrderKind::kBlocks;
  if (!flags.contains("order-block")) config.order.block = size->block;
}

}  // namespace

RunConfig resolve(const ConfigSources& sources, const Environment& environment, Purpose purpose) {
  RunConfig config = base_config(sources, environment);
  const double rate = config.schedule.rate;
  apply_flags(sources.flags, config);
  if (!config.resume.empty() && config.optimizer.kind == OptimizerKind::kFtrl &&
      config.schedule.rate != rate) {
    throw ConfigError(
        "--rate {} is not what {} was trained with ({}), and with ftrl all weights follow from the "
        "rate: leave it out",
        config.schedule.rate, config.resume.string(), rate);
  }
  choose_data_dir(config.data, environment);
  if (config.run_dir.empty()) config.run_dir = default_run_dir(config.recipe, environment.now);
  config.order.seed = config.seed;
  adopt_prepared(sources.flags, config);
  if (config.model.name == "regression" && !sources.flags.contains("labels")) {
    config.data.rows.format.target = RowTarget::kNumber;
  }
  // Written down as it is now: a run that is resumed with more workers must not step further.
  // Of rows it is the batch, which cannot change.
  if (config.reduction == Reduction::kSum && config.sum_factor == 0 && !is_rows(config.data)) {
    config.sum_factor = static_cast<double>(config.workers);
  }
  validate(config, purpose);
  check_effects(config, named_by(sources.flags));
  return config;
}

void choose_data_dir(DataOptions& data, const Environment& environment) {
  if (!data.dir.empty() || dataset_kind(data.name).origin == Origin::kOwnFolder) return;
  data.dir = environment.cache_dir;
  if (is_known_set(data.name)) require_data_dir(data.dir);
}

}  // namespace paceline

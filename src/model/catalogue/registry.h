// Models by name: those built in, those of the plugin that needs libtorch, and those of a
// program that uses Paceline as a library.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/options.h"

namespace paceline {

// All that a model is a function of: every role of a run makes the same one.
struct ModelSetup {
  ModelOptions options;
  DatasetInfo data;
  std::uint64_t seed = 0;  // of what is random while it trains
  // Where it may keep what it need not compute again: a folder of the run's own, or none.
  std::filesystem::path cache = {};
};
using ModelMaker = std::function<std::unique_ptr<Model>(const ModelSetup&)>;

// Not while another thread makes a model. A later maker of the same name replaces the first.
void register_model(const std::string& name, ModelMaker maker);

// Throws ConfigError when there is no such model, it does not fit the data, or the plugin
// it is in is not there.
std::unique_ptr<Model> make_model(const ModelSetup& setup);

// Writes parameters so that Python's torch.load reads them.
using WeightWriter = std::function<void(const Layout& layout, std::span<const float> parameters,
                                        const std::filesystem::path& file)>;
void register_weight_writer(WeightWriter writer);
// Loads the plugin that has it. Throws ConfigError when it is not there, DataError when the
// file cannot be written.
void export_weights(const Layout& layout, std::span<const float> parameters,
                    const std::filesystem::path& file);

bool is_script(const std::string& name);  // a TorchScript file, not a model known by its name

// Throws ConfigError, as make_model() does, without loading anything.
void check_model_name(const std::string& name);

std::vector<std::string> model_names();  // those of the plugin, too, whether it is there or not

}  // namespace paceline

// Models by name: those built in, those of the plugin that needs libtorch, and those of a
// program that uses Paceline as a library.
#pragma once

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
};
using ModelMaker = std::function<std::unique_ptr<Model>(const ModelSetup&)>;

// Not while another thread makes a model. A later maker of the same name replaces the first.
void register_model(const std::string& name, ModelMaker maker);

// Throws ConfigError when there is no such model, it does not fit the data, or the plugin
// it is in is not there.
std::unique_ptr<Model> make_model(const ModelSetup& setup);

// Throws ConfigError, as make_model() does, without loading anything.
void check_model_name(const std::string& name);

std::vector<std::string> model_names();  // those of the plugin, too, whether it is there or not

}  // namespace paceline

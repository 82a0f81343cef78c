#include "model/catalogue/registry.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/plugin.h"
#include "base/text.h"
#include "model/linear/softmax.h"
#include "model/linear/sparse_linear.h"

namespace paceline {
namespace {

constexpr std::array<const char*, 4> kNeedTorch = {"alexnet", "image-quality", "sentiment",
                                                   "translation"};

using Makers = std::map<std::string, ModelMaker>;

Makers& makers() {
  static Makers known = {
      {"softmax",
       [](const ModelSetup& setup) {
         return std::make_unique<SoftmaxRegression>(setup.data.width, setup.data.classes);
       }},
      {"logistic",
       [](const ModelSetup& setup) {
         return std::make_unique<SparseLinear>(SparseLinear::Kind::kLogistic, setup.data);
       }},
      {"regression", [](const ModelSetup& setup) {
         return std::make_unique<SparseLinear>(SparseLinear::Kind::kRegression, setup.data);
       }}};
  return known;
}

WeightWriter& weight_writer() {
  static WeightWriter writer;
  return writer;
}

}  // namespace

bool is_script(const std::string& name) {
  return name.ends_with(".pt");
}

void register_model(const std::string& name, ModelMaker maker) {
  makers()[name] = std::move(maker);
}

void register_weight_writer(WeightWriter writer) {
  weight_writer() = std::move(writer);
}

void export_weights(const Layout& layout, std::span<const float> parameters,
                    const std::filesystem::path& file) {
  if (!weight_writer()) load_plugin("torch", "writing weights for Python");
  weight_writer()(layout, parameters, file);
}

void check_model_name(const std::string& name) {
  const auto names = model_names();
  if (is_script(name) || std::find(names.begin(), names.end(), name) != names.end()) return;
  throw ConfigError("there is no model '{}'{}: the models are {}, or a TorchScript FILE.pt", name,
                    did_you_mean(name, names), join(names, ", "));
}

std::unique_ptr<Model> make_model(const ModelSetup& setup) {
  const std::string& name = setup.options.name;
  check_model_name(name);
  if (setup.data.row_bits > 0 && name != "logistic" && name != "regression") {
    throw ConfigError(
        "{} cannot learn from sparse rows: use --model logistic or --model regression", name);
  }
  const std::string key = is_script(name) ? "script" : name;
  if (!makers().contains(key)) {
    use_threads(std::max(1U, setup.options.threads));
    load_plugin("torch", "the model " + name);
  }
  return makers().at(key)(setup);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers()) {
    if (name != "script") names.push_back(name);
  }
  for (const char* name : kNeedTorch) {
    if (!makers().contains(name)) names.emplace_back(name);
  }
  return names;
}

}  // namespace paceline

#include "model/torch/script.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "model/torch/device.h"
#include "model/torch/images.h"
#include "model/torch/sequences.h"
#include "model/torch/truth.h"

namespace paceline {
namespace {

// libtorch's messages end with a trace of its own insides, and TorchScript's begin with one: there
// the reason comes last.
std::string reason_in(const std::string& text) {
  constexpr std::string_view kReason = "RuntimeError: ";
  const std::size_t reason = text.rfind(kReason);
  const std::size_t begin = reason == std::string::npos ? 0 : reason + kReason.size();
  std::string line = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t trace = line.find(" (Exception raised");
  return trace == std::string::npos ? line : line.substr(0, trace);
}

torch::jit::Module load(const std::string& file) {
  if (!std::filesystem::exists(file)) throw DataError("there is no file {}", file);
  try {
    return torch::jit::load(file);
  } catch (const std::exception& error) {
    throw DataError(
        "{} is not a TorchScript file, as torch.jit.save(torch.jit.script(model), FILE) writes "
        "it: {}",
        file, reason_in(error.what()));
  }
}

}  // namespace

ScriptModel::ScriptModel(const ModelSetup& setup)
    : setup_(setup), module_(load(setup.options.name)) {
  for (const auto& parameter : module_.named_parameters()) {
    if (parameter.value.scalar_type() != torch::kFloat32) {
      throw ConfigError("{}: the parameter {} is not of 32-bit floats", setup.options.name,
                        parameter.name);
    }
    tensors_.add(parameter.name, parameter.value.sizes().vec());
    parameters_.push_back(parameter.value);
    first_.push_back(parameter.value.detach().clone());
  }
  const auto learns = [](const torch::Tensor& parameter) { return parameter.requires_grad(); };
  if (std::none_of(parameters_.begin(), parameters_.end(), learns)) {
    throw ConfigError("{} has no parameters that learn", setup.options.name);
  }
  if (const auto device = other_device(setup.options)) {
    tensors_.keep_on(*device);
    module_.to(*device);
  }
  refuse_batch_statistics();
  try_out();
}

// They would depend on who computes which examples.
void ScriptModel::refuse_batch_statistics() const {
  for (const auto& buffer : module_.named_buffers()) {
    if (buffer.name.ends_with("running_mean")) {
      throw ConfigError(
          "{} has batch statistics ({}), which depend on how steps are cut into shares: use group "
          "or layer normalization",
          setup_.options.name, buffer.name);
    }
  }
}

void ScriptModel::try_out() {
  std::vector<float> parameters(tensors_.layout().size);
  initialize(0, parameters);
  const std::vector<std::uint8_t> zeros(std::max<std::size_t>(setup_.data.width, 8));
  Batch batch;
  batch.rows.assign(2, zeros.data());
  batch.labels.assign(2, 0);
  batch.examples = {0, 1};
  batch.width = setup_.data.width;
  torch::Tensor result;
  try {
    result = untrained(batch, parameters);
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception& error) {
    throw ConfigError("{} cannot be called with the examples of {}: {}", setup_.options.name,
                      setup_.data.name, reason_in(error.what()));
  }
  if (result.size(0) == 2 && result.size(1) == (numbers() ? 1 : setup_.data.classes)) return;
  throw ConfigError("{} answers two examples with a tensor of {} × {}; {}", setup_.options.name,
                    result.size(0), result.size(1),
                    numbers()
                        ? "--loss squared-error needs one number for each"
                        : fmt::format("{} has {} classes", setup_.data.name, setup_.data.classes));
}

void ScriptModel::initialize(std::uint64_t, std::span<float> parameters) const {
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const Range floats = tensors_.floats(i);
    std::copy_n(first_[i].contiguous().data_ptr<float>(), floats.size(),
                parameters.begin() + static_cast<std::ptrdiff_t>(floats.begin));
  }
}

void ScriptModel::bind(std::span<const float> parameters, std::span<float> gradient) {
  tensors_.bind(parameters, gradient);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    tensors_.fetch(i);
    parameters_[i].set_data(tensors_.value(i));
    parameters_[i].mutable_grad() = gradient.empty() ? torch::Tensor() : tensors_.gradient(i);
  }
}

torch::Tensor ScriptModel::input(const Batch& batch) const {
  if (setup_.data.image.channels > 0) return images_of(batch, setup_.data.image);
  if (setup_.data.text.sequences == 1) {
    return pad(batch, 0, setup_.data.text.vocabulary, setup_.data.name).tokens.t().contiguous();
  }
  return rows_of(batch);
}

torch::Tensor ScriptModel::scores(const Batch& batch) {
  const torch::Tensor examples = input(batch).to(tensors_.device());
  c10::IValue answer;
  try {
    answer = module_.forward({examples});
  } catch (const std::exception& error) {
    throw ConfigError("{} cannot be called with the examples of {}, a tensor of [{}]: {}",
                      setup_.options.name, setup_.data.name, fmt::join(examples.sizes(), ", "),
                      reason_in(error.what()));
  }
  if (!answer.isTensor()) {
    throw ConfigError("{} answers with {}, and must answer with a tensor", setup_.options.name,
                      answer.tagKind());
  }
  torch::Tensor result = answer.toTensor().cpu();
  const bool one_each = result.dim() > 0 && result.numel() == result.size(0);
  if (one_each && numbers()) return result.reshape({-1, 1});
  if (one_each && setup_.data.classes == 2) return two_classes(result);
  if (result.dim() != 2) {
    throw ConfigError(
        "{} answers with a tensor of {} dimensions, and must answer with scores "
        "[examples, classes]",
        setup_.options.name, result.dim());
  }
  return result;
}

Loss ScriptModel::gradient(const Batch& batch, std::span<const float> parameters,
                           std::span<float> gradient, Flow& flow) {
  const Range all{0, tensors_.layout().size};
  flow.await(all);
  std::fill(gradient.begin(), gradient.end(), 0.0f);  // the graph adds
  bind(parameters, gradient);
  module_.train();
  torch::manual_seed(random_bits(setup_.seed, {batch.epoch, batch.examples[0]}) >> 1);
  const Truth truth(batch, setup_.data, setup_.options.loss);
  const torch::Tensor result = scores(batch);
  const torch::Tensor sum = truth.error(result);
  flow.turn();
  sum.backward();
  for (std::size_t i = 0; i < parameters_.size(); ++i) tensors_.store(i);
  flow.ready(all);
  return truth.loss(result, sum);
}

torch::Tensor ScriptModel::untrained(const Batch& batch, std::span<const float> parameters) {
  const torch::NoGradGuard no_graph;
  bind(parameters, {});
  module_.eval();
  return scores(batch);
}

Loss ScriptModel::evaluate(const Batch& batch, std::span<const float> parameters) {
  return Truth(batch, setup_.data, setup_.options.loss).loss(untrained(batch, parameters));
}

void ScriptModel::predict(const Batch& batch, std::span<const float> parameters,
                          std::span<float> probabilities) {
  torch::Tensor answers = untrained(batch, parameters);
  if (numbers()) answers = nearest_class(answers, setup_.data.classes);
  write_probabilities(answers, probabilities);
}

}  // namespace paceline

#include "model/torch/image_quality.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "model/torch/images.h"

namespace paceline {
namespace {

constexpr std::uint32_t kLeastSide = 16;  // fewer leave nothing after three halvings
constexpr std::int64_t kGroups = 8;

}  // namespace

Backbone::Backbone(FlatTensors& tensors, std::int64_t channels) {
  // Every second one halves the image: most of the work is done where it is small.
  const Convolution::Shape shapes[] = {{channels, 32, 5, 2, 2},  {32, 32, 3, 1, 1},
                                       {32, 64, 3, 2, 1},        {64, 64, 3, 1, 1},
                                       {64, kFeatures, 3, 2, 1}, {kFeatures, kFeatures, 3, 1, 1}};
  for (std::size_t i = 0; i < std::size(shapes); ++i) {
    const std::string name = "backbone." + std::to_string(i);
    convolutions_.emplace_back(tensors, name + ".convolution", shapes[i]);
    norms_.emplace_back(tensors, name + ".norm", shapes[i].out, kGroups);
  }
}

void Backbone::initialize(std::uint64_t seed, std::span<float> parameters) const {
  for (const Convolution& layer : convolutions_) layer.initialize(seed, parameters);
  for (const GroupNorm& layer : norms_) layer.initialize(parameters);
}

torch::Tensor Backbone::features(const torch::Tensor& images, const Pass& pass) const {
  torch::Tensor x = images;
  for (std::size_t i = 0; i < convolutions_.size(); ++i) {
    x = norms_[i].forward(convolutions_[i].forward(x, pass), pass).relu();
  }
  return x.mean({2, 3});
}

ImageQuality::ImageQuality(const ModelSetup& setup) : TorchClassifier(setup, kLeastSide) {
  const bool top_only = setup.options.train == TrainedPart::kTop;
  backbone_ = std::make_unique<Backbone>(top_only ? frozen_ : tensors_, setup.data.image.channels);
  top_ = std::make_unique<Linear>(tensors_, "top", Backbone::kFeatures, setup.data.classes);
}

void ImageQuality::initialize(std::uint64_t seed, std::span<float> parameters) const {
  if (frozen().size == 0) backbone_->initialize(seed, parameters);
  top_->initialize(seed, parameters);
}

void ImageQuality::freeze(std::span<const float> values) {
  PACELINE_CHECK(values.size() == frozen().size);
  frozen_values_ = Buffer::floats(values.size());
  std::copy(values.begin(), values.end(), frozen_values_.as_floats().begin());
  frozen_.bind(frozen_values_.as_floats(), {});
  const auto file = [&](const char* name) {
    return setup_.cache.empty() ? std::filesystem::path() : setup_.cache / name;
  };
  train_features_ = FeatureCache(file("features-train"), Backbone::kFeatures);
  test_features_ = FeatureCache(file("features-test"), Backbone::kFeatures);
}

Loss ImageQuality::evaluate(const Batch& batch, std::span<const float> parameters) {
  testing_ = true;
  const Loss loss = TorchClassifier::evaluate(batch, parameters);
  testing_ = false;
  return loss;
}

void ImageQuality::multiply(const Matrix& matrix, const Factors& factors,
                            std::span<float> gradient) const {
  paceline::multiply(matrix, factors, gradient);
}

torch::Tensor ImageQuality::scores(const Pass& pass) const {
  const bool top_only = frozen().size > 0;
  return top_->forward(top_only ? frozen_features(pass) : backbone_->features(images(pass), pass),
                       pass);
}

// One by one: the features of an example have the same bits whatever it is in a batch with.
torch::Tensor ImageQuality::frozen_features(const Pass& pass) const {
  PACELINE_CHECK(frozen_values_.size() > 0);
  const torch::NoGradGuard no_graph;
  FeatureCache* cache = pass.training ? &train_features_ : testing_ ? &test_features_ : nullptr;
  NoFlow flow;
  torch::Tensor all =
      torch::empty({static_cast<std::int64_t>(pass.batch.size()), Backbone::kFeatures});
  Batch one;
  one.width = pass.batch.width;
  for (std::size_t i = 0; i < pass.batch.size(); ++i) {
    const std::span<float> row(all.data_ptr<float>() + i * Backbone::kFeatures,
                               Backbone::kFeatures);
    const bool readable = pass.batch.weights.empty() || pass.batch.weights[i] > 0;
    if (cache != nullptr && readable && cache->find(pass.batch.examples[i], row)) continue;
    one.rows = {pass.batch.rows[i]};
    const torch::Tensor features = backbone_->features(images_of(one, setup_.data.image),
                                                       {frozen_, one, flow, false, setup_.seed});
    std::copy_n(features.contiguous().data_ptr<float>(), row.size(), row.begin());
    if (cache != nullptr && readable) cache->keep(pass.batch.examples[i], row);
  }
  return all;
}

}  // namespace paceline

#include "model/linear/softmax.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace paceline {
namespace {

Layout make_layout(std::uint64_t width, std::uint64_t classes) {
  const std::uint64_t weights = width * classes;
  return {{{"softmax.weight", {classes, width}, {0, weights}},
           {"softmax.bias", {classes}, {weights, weights + classes}}},
          weights + classes};
}

}  // namespace

struct SoftmaxRegression::Pass {
  std::span<const std::uint8_t* const> rows;
  std::span<const std::int32_t> labels;
  Store store;  // the first pass of a batch overwrites the gradient, the others add to it
};

SoftmaxRegression::SoftmaxRegression(std::size_t width, std::size_t classes, float scale)
    : scale_(scale), layout_(make_layout(width, classes)), scratch_(width, classes), terms_() {
  PACELINE_CHECK(width > 0 && classes > 0);
}

void SoftmaxRegression::initialize(std::uint64_t, std::span<float> parameters) const {
  std::ranges::fill(parameters, 0.0f);
}

namespace {

// What is left when examples that weigh nothing are taken out.
Batch weighty(const Batch& batch) {
  Batch left;
  left.width = batch.width;
  left.weight = batch.weight;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch.weights[i] == 0) continue;
    left.rows.push_back(batch.rows[i]);
    left.labels.push_back(batch.labels[i]);
  }
  return left;
}

bool has_weightless(const Batch& batch) {
  return std::ranges::find(batch.weights, 0.0f) != batch.weights.end();
}

}  // namespace

Loss SoftmaxRegression::gradient(const Batch& batch, std::span<const float> parameters,
                                 std::span<float> gradient, Flow& flow) {
  if (has_weightless(batch)) {
    Loss loss = this->gradient(weighty(batch), parameters, gradient, flow);
    loss.examples = batch.size();
    return loss;
  }
  check(batch, parameters);
  PACELINE_CHECK(gradient.size() == layout_.size);
  flow.await({0, layout_.size});
  if (batch.size() == 0) std::ranges::fill(gradient, 0.0f);
  Loss loss;
  for (std::size_t first = 0; first < batch.size(); first += LinearScratch::kRowsPerPass) {
    const Pass part = pass(batch, first);
    loss += forward(part, parameters);
    errors(part, gradient.last(scratch_.classes()));
    linear_backward(part.rows, scratch_, gradient.data(), part.store);
  }
  loss.weight = batch.weight;
  loss.predictions = loss.examples;
  flow.ready({0, layout_.size});
  return loss;
}

Loss SoftmaxRegression::evaluate(const Batch& batch, std::span<const float> parameters) {
  if (has_weightless(batch)) {
    Loss loss = evaluate(weighty(batch), parameters);
    loss.examples = batch.size();
    return loss;
  }
  check(batch, parameters);
  Loss loss;
  for (std::size_t first = 0; first < batch.size(); first += LinearScratch::kRowsPerPass) {
    loss += forward(pass(batch, first), parameters);
  }
  loss.weight = batch.weight;
  loss.predictions = loss.examples;
  return loss;
}

void SoftmaxRegression::predict(const Batch& batch, std::span<const float> parameters,
                                std::span<float> probabilities) {
  check(batch, parameters);
  const std::size_t classes = scratch_.classes();
  PACELINE_CHECK(probabilities.size() == batch.size() * classes);
  for (std::size_t first = 0; first < batch.size(); first += LinearScratch::kRowsPerPass) {
    const Pass part = pass(batch, first);
    forward(part, parameters);
    for (std::size_t e = 0; e < part.rows.size(); ++e) {
      std::copy_n(scratch_.outputs(e), classes, &probabilities[(first + e) * classes]);
    }
  }
}

void SoftmaxRegression::check(const Batch& batch, std::span<const float> parameters) const {
  PACELINE_CHECK(parameters.size() == layout_.size && batch.labels.size() == batch.size());
  if (batch.size() > 0 && batch.width != scratch_.width()) {
    throw DataError("the model was made for {} features per example, the data has {}",
                    scratch_.width(), batch.width);
  }
  const auto classes = static_cast<std::int32_t>(scratch_.classes());
  for (const std::int32_t label : batch.labels) {
    if (label < 0 || label >= classes) {
      throw DataError(
          "label {} is not one of the model's {} classes (0 to {}); check the label file", label,
          classes, classes - 1);
    }
  }
}

SoftmaxRegression::Pass SoftmaxRegression::pass(const Batch& batch, std::size_t first) const {
  const std::size_t count = std::min(LinearScratch::kRowsPerPass, batch.size() - first);
  return {std::span(batch.rows).subspan(first, count),
          std::span(batch.labels).subspan(first, count),
          first == 0 ? Store::kOverwrite : Store::kAdd};
}

Loss SoftmaxRegression::forward(const Pass& pass, std::span<const float> parameters) {
  const std::span<SoftmaxTerms> terms = std::span(terms_).first(pass.rows.size());
  linear_forward(pass.rows, parameters.data(), scratch_);
  softmax_rows(pass.labels, scale_, parameters.last(scratch_.classes()), scratch_, terms);
  Loss loss;
  loss.examples = terms.size();
  for (const SoftmaxTerms& term : terms) {
    loss.sum += std::log(static_cast<double>(term.sum)) + static_cast<double>(term.gap);
    loss.correct += term.correct ? 1 : 0;
  }
  return loss;
}

void SoftmaxRegression::errors(const Pass& pass, std::span<float> bias_gradient) {
  if (pass.store == Store::kOverwrite) std::ranges::fill(bias_gradient, 0.0f);
  for (std::size_t e = 0; e < pass.rows.size(); ++e) {
    float* output = scratch_.outputs(e);
    output[pass.labels[e]] -= 1;
    for (std::size_t c = 0; c < bias_gradient.size(); ++c) {
      bias_gradient[c] += output[c];
      output[c] *= scale_;  // so that the products with bytes are those with features
    }
  }
}

}  // namespace paceline

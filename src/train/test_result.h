// What a test says of a model, whoever makes it: the loss, and what people know a model of its
// kind by.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/activity.h"
#include "data/dataset.h"
#include "model/linear/sparse_linear.h"
#include "model/model.h"
#include "model/options.h"
#include "session/protocol.pb.h"

namespace paceline {

struct TestResult {
  Loss loss;
  std::optional<double> accuracy{};  // in [0, 1], of models that predict classes or words
  std::optional<double> f1{};        // of class 1, where there are two
  std::optional<double> auc{};       // of sparse rows with classes
  std::optional<double> rmse{};      // of models that predict numbers
};

// Of sparse rows: what these scores are worth.
TestResult test_result(SparseLinear::Kind kind, std::span<const float> scores,
                       std::span<const float> labels);

// Of all examples of `tests`. `activity`, if there is one, counts the batches.
TestResult test_model(const ModelOptions& options, Model& model, const Dataset& tests,
                      std::span<const float> parameters, Activity* activity = nullptr);

// As the chief and the journal hear of it; `epoch` is from 0.
wire::Evaluated evaluated_of(std::uint64_t version, std::uint64_t epoch, const TestResult& result);

}  // namespace paceline

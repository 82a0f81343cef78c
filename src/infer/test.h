// Tests a model on a dataset, for whoever wants to know: roles of a run, and `paceline evaluate`.
#pragma once

#include <atomic>
#include <span>

#include "base/activity.h"
#include "data/dataset.h"
#include "model/linear/sparse_linear.h"
#include "model/metrics.h"
#include "model/model.h"
#include "model/options.h"

namespace paceline {

// On all examples of `tests`. `activity`, if there is one, counts the batches. Throws Interrupted
// soon after `stop` has become true.
Metrics test_model(const ModelOptions& options, Model& model, const Dataset& tests,
                   std::span<const float> parameters, Activity* activity = nullptr,
                   const std::atomic<bool>* stop = nullptr);

// Of sparse rows that somebody has scored.
Metrics test_scores(SparseLinear::Kind kind, std::span<const float> scores,
                    std::span<const float> labels);

}  // namespace paceline

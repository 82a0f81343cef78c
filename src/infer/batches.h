// The examples of a dataset in their order, some at a time: what testing and labelling go through.
#pragma once

#include <cstdint>
#include <functional>

#include "base/activity.h"
#include "data/dataset.h"

namespace paceline {

// How many fit in one go.
std::uint64_t examples_at_once(const DatasetInfo& data);

// `activity`, if there is one, counts the batches.
void for_each_batch(const Dataset& dataset, const std::function<void(const Batch&)>& each,
                    Activity* activity = nullptr);

}  // namespace paceline

// The examples of a dataset in their order, some at a time: what testing and labelling go through.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/activity.h"
#include "data/dataset.h"

namespace paceline {

// How many fit in one go.
std::uint64_t examples_at_once(const DatasetInfo& data);

// `activity`, if there is one, counts the batches. When `stop` becomes true, no further one is
// begun: throws Interrupted.
void for_each_batch(const Dataset& dataset, const std::function<void(const Batch&)>& each,
                    Activity* activity = nullptr, const std::atomic<bool>* stop = nullptr);

}  // namespace paceline

#include "infer/batches.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace paceline {

// Activations of large images take far more memory than the images.
std::uint64_t examples_at_once(const DatasetInfo& data) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 20;
  return std::clamp<std::uint64_t>(kMostBytes / std::max<std::size_t>(1, data.width), 1, 500);
}

void for_each_batch(const Dataset& dataset, const std::function<void(const Batch&)>& each,
                    Activity* activity, const std::atomic<bool>* stop) {
  const std::uint64_t size = examples_at_once(dataset.info());
  Batch batch;
  for (std::uint64_t begin = 0; begin < dataset.info().examples; begin += size) {
    if (stop != nullptr && *stop) throw Interrupted("interrupted");
    batch.examples.resize(std::min(size, dataset.info().examples - begin));
    std::iota(batch.examples.begin(), batch.examples.end(), begin);
    dataset.read(batch.examples, batch);
    each(batch);
    if (activity != nullptr) activity->count();
  }
}

}  // namespace paceline

#include "train/ideal.h"

#include <algorithm>

#include "base/buffer.h"
#include "data/catalogue/open.h"
#include "train/placement.h"
#include "train/start.h"
#include "train/workload.h"

namespace paceline {

Ideal measure_ideal(const RunConfig& wanted, Duration least) {
  RunConfig config = with_threads(wanted);
  config.run_dir.clear();  // it leaves nothing behind
  const Workload workload = make_workload(config);
  const auto dataset = open_training(config);
  Ideal ideal;
  ideal.examples_per_step = std::max<std::uint64_t>(1, workload.grid.batch / config.workers);
  Batch batch;
  batch.examples.resize(ideal.examples_per_step);
  workload.order.examples(0, {0, ideal.examples_per_step}, batch.examples);
  dataset->read(batch.examples, batch);
  const bool rows = exchanges_rows(config);  // then only those that the examples touch
  const std::uint64_t floats = rows ? batch.touched.size() : workload.chunks.floats();
  Buffer parameters = Buffer::floats(floats);
  Buffer gradient = Buffer::floats(floats);
  if (!rows) {
    const Start start = make_start(config, *workload.model);
    std::ranges::copy(start.parameters, parameters.as_floats().begin());
    if (!start.frozen.empty()) workload.model->freeze(start.frozen);
  }
  NoFlow flow;
  const auto step = [&] {
    workload.model->gradient(batch, parameters.as_floats(), gradient.as_floats(), flow);
  };
  step();  // to warm up
  constexpr std::uint64_t kLeastSteps = 3;
  std::vector<double> times;
  TimePoint now = Clock::now();
  for (const TimePoint begin = now; now - begin < least || times.size() < kLeastSteps;) {
    step();
    times.push_back(seconds(Clock::now() - now));
    now = Clock::now();
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  ideal.steps = times.size();
  ideal.step_seconds = *middle;
  ideal.examples_per_second = static_cast<double>(ideal.examples_per_step) / *middle;
  return ideal;
}

}  // namespace paceline

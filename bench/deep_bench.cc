// A training step of a deep model on one core, without a run around it: forward, backward
// and SGD, on made-up data.
//
//   deep_bench alexnet|alexnet-bf16 BATCH STEPS
//   deep_bench lstm|lstm-step BATCH STEPS        embedding 128, hidden 256, length 100
//   deep_bench translation BATCH STEPS     embedding 128, hidden 256, 8,000 words, length 12
//
// Prints the median seconds per step, after two steps to warm up, and the first loss.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/denormals.h"
#include "base/random.h"
#include "data/synthetic.h"
#include "model/torch/alexnet.h"
#include "model/torch/lstm.h"
#include "model/torch/memory.h"
#include "model/torch/translation.h"
#include "optim/optimizer.h"

namespace {

using namespace paceline;

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Parameters, gradient and SGD.
struct Trained {
  explicit Trained(std::uint64_t floats)
      : parameters(Buffer::floats(floats)), gradient(Buffer::floats(floats)) {}

  void update(double weight) {
    const GroupRange all{{0, parameters.as_floats().size()}, 1, 1};
    optimizer.apply({0.01, 1 / weight, 1}, std::span(&all, 1), gradient.as_floats(),
                    parameters.as_floats(), parameters.as_floats(), {}, {});
  }

  Buffer parameters;
  Buffer gradient;
  Optimizer optimizer{OptimizerOptions{}};
};

struct Result {
  double seconds_per_step;
  double first_loss;
};

template <typename Step>
Result measure(std::uint64_t steps, const Step& step) {
  constexpr std::uint64_t kWarmUp = 2;
  std::vector<double> times;
  double first = 0;
  for (std::uint64_t i = 0; i < steps + kWarmUp; ++i) {
    const TimePoint begin = Clock::now();
    const double loss = step();
    if (i == 0) first = loss;
    if (i >= kWarmUp) times.push_back(seconds(Clock::now() - begin));
  }
  return {median(std::move(times)), first};
}

Result alexnet(std::uint64_t batch_size, std::uint64_t steps, Precision precision) {
  const auto data = make_synthetic({.image = 224, .classes = 1000}, {0, batch_size}, "images");
  ModelSetup setup;
  setup.options.name = "alexnet";
  setup.options.precision = precision;
  setup.data = data->info();
  AlexNet model(setup);
  Trained trained(model.layout().size);
  model.initialize(1, trained.parameters.as_floats());
  Batch batch;
  batch.examples.resize(batch_size);
  std::iota(batch.examples.begin(), batch.examples.end(), 0);
  data->read(batch.examples, batch);
  NoFlow flow;
  return measure(steps, [&] {
    const Loss loss =
        model.gradient(batch, trained.parameters.as_floats(), trained.gradient.as_floats(), flow);
    trained.update(loss.weight);
    return loss.mean();
  });
}

Result lstm(std::int64_t batch_size, std::uint64_t steps, RnnKind kind) {
  constexpr std::int64_t kTimes = 100;
  constexpr std::int64_t kEmbedding = 128;
  constexpr std::int64_t kHidden = 256;
  FlatTensors tensors;
  const Lstm layer(tensors, "lstm", kEmbedding, kHidden, kind);
  Trained trained(tensors.layout().size);
  layer.initialize(1, trained.parameters.as_floats());
  tensors.bind(trained.parameters.as_floats(), trained.gradient.as_floats());
  torch::manual_seed(1);
  torch::Tensor input = torch::randn({kTimes, batch_size, kEmbedding}, torch::requires_grad());
  const Batch batch;
  NoFlow flow;
  return measure(steps, [&] {
    const Pass pass{tensors, batch, flow, true, 1};
    input.mutable_grad() = torch::Tensor();
    const torch::Tensor loss = layer.forward(input, {}, pass).outputs.square().mean();
    loss.backward();
    trained.update(1);
    return loss.item<double>();
  });
}

Result translation(std::uint64_t batch_size, std::uint64_t steps) {
  constexpr std::int32_t kLength = 12;
  constexpr std::uint32_t kWords = 8000;
  ModelSetup setup;
  setup.options.name = "translation";
  setup.options.embedding = 128;
  setup.options.hidden = 256;
  setup.data.name = "sentences";
  setup.data.text = {2, kLength, kWords};
  Translation model(setup);
  Trained trained(model.layout().size);
  model.initialize(1, trained.parameters.as_floats());
  Random random(1);
  std::vector<std::vector<std::int32_t>> rows(batch_size);
  Batch batch;
  for (auto& row : rows) {
    for (int side = 0; side < 2; ++side) {
      row.push_back(kLength);
      for (std::int32_t i = 0; i < kLength; ++i) {
        row.push_back(Vocabulary::kFirstWord +
                      static_cast<std::int32_t>(random.below(kWords - Vocabulary::kFirstWord)));
      }
    }
    batch.rows.push_back(reinterpret_cast<const std::uint8_t*>(row.data()));
    batch.weight += kLength + 1;
  }
  NoFlow flow;
  return measure(steps, [&] {
    const Loss loss =
        model.gradient(batch, trained.parameters.as_floats(), trained.gradient.as_floats(), flow);
    trained.update(loss.weight);
    return loss.mean();
  });
}

Result measured(const std::string& model, std::uint64_t batch, std::uint64_t steps) {
  if (model == "alexnet") return alexnet(batch, steps, Precision::kFloat);
  if (model == "alexnet-bf16") return alexnet(batch, steps, Precision::kBf16);
  if (model == "translation") return translation(batch, steps);
  const RnnKind kind = model == "lstm" ? RnnKind::kFused : RnnKind::kStep;
  return lstm(static_cast<std::int64_t>(batch), steps, kind);
}

}  // namespace

int main(int argc, char** argv) try {
  paceline::flush_denormals();  // as the program does
  if (argc != 4) throw std::invalid_argument("usage: deep_bench MODEL BATCH STEPS");
  at::set_num_threads(1);
  keep_freed_memory();
  const Result result = measured(argv[1], std::stoull(argv[2]), std::stoull(argv[3]));
  std::printf("{\"seconds_per_step\": %.9f, \"first_loss\": %.6f}\n", result.seconds_per_step,
              result.first_loss);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "deep_bench: %s\n", error.what());
  return 1;
}

// Softmax regression on MNIST with Paceline's model and optimizer, on one core and with
// nothing around them: what torch_softmax is compared with.
//
//   softmax_bench DIR BATCH STEPS RATE
//
// Prints what torch_softmax prints.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "base/buffer.h"
#include "base/denormals.h"
#include "idx.h"
#include "model/linear/softmax.h"
#include "optim/optimizer.h"
#include "steps.h"

namespace {

using namespace paceline;

struct Data {
  bench::Idx images;
  bench::Idx labels;
  std::size_t width() const { return images.bytes.size() / images.shape[0]; }
};

void read_batch(const Data& data, std::size_t first, std::size_t size, Batch& batch) {
  batch.width = data.width();
  batch.weight = static_cast<double>(size);
  batch.rows.resize(size);
  batch.labels.resize(size);
  for (std::size_t e = 0; e < size; ++e) {
    batch.rows[e] = data.images.bytes.data() + (first + e) * batch.width;
    batch.labels[e] = data.labels.bytes[first + e];
  }
}

bench::Steps train(const Data& data, std::size_t size, std::size_t steps, double rate) {
  SoftmaxRegression model(data.width(), 10);
  const Optimizer optimizer({.kind = OptimizerKind::kSgd});
  Buffer parameters = Buffer::floats(model.layout().size);
  Buffer gradient = Buffer::floats(model.layout().size);
  const std::size_t batches = data.images.shape[0] / size;
  const StepScalars scalars{.rate = rate, .scale = 1.0 / static_cast<double>(size)};
  NoFlow flow;
  Batch batch;
  bench::Steps result;
  for (std::size_t step = 0; step < steps; ++step) {
    read_batch(data, step % batches * size, size, batch);
    const Loss loss = model.gradient(batch, parameters.as_floats(), gradient.as_floats(), flow);
    optimizer.apply(scalars, 1, 1, gradient.as_floats(), parameters.as_floats(),
                    parameters.as_floats(), {}, {});
    result.step(loss.mean());
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  paceline::flush_denormals();  // as the program does
  if (argc != 5) throw std::invalid_argument("usage: softmax_bench DIR BATCH STEPS RATE");
  const Data data{bench::read_idx(argv[1], "train-images-idx3-ubyte"),
                  bench::read_idx(argv[1], "train-labels-idx1-ubyte")};
  const std::size_t batch = std::stoull(argv[2]);
  const double rate = std::stod(argv[4]);
  train(data, batch, 100, rate);
  train(data, batch, std::stoull(argv[3]), rate).print();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "softmax_bench: %s\n", error.what());
  return 1;
}

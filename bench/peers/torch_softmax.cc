// Softmax regression on MNIST with libtorch's C++ API, on one core: the loop that
// softmax_bench is compared with.
//
//   torch_softmax DIR BATCH STEPS RATE
//
// Prints {"seconds": …, "median_step_seconds": …, "losses": […]}: the time of the steps,
// which start from zero after some others to warm up, and the mean loss of every 100th.
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "idx.h"
#include "steps.h"

namespace {

struct Data {
  torch::Tensor images;  // [examples, pixels], bytes
  torch::Tensor labels;  // [examples]
};

Data read_data(const std::string& directory) {
  const bench::Idx images = bench::read_idx(directory, "train-images-idx3-ubyte");
  const bench::Idx labels = bench::read_idx(directory, "train-labels-idx1-ubyte");
  const auto tensor = [](const bench::Idx& idx) {
    const auto size = static_cast<std::int64_t>(idx.bytes.size());
    return torch::from_blob(const_cast<std::uint8_t*>(idx.bytes.data()), {size}, torch::kUInt8);
  };
  return {tensor(images).view({images.shape[0], -1}).clone(), tensor(labels).to(torch::kInt64)};
}

torch::nn::Linear make_model(std::int64_t width) {
  torch::nn::Linear model(width, 10);
  torch::NoGradGuard no_grad;
  model->weight.zero_();
  model->bias.zero_();
  return model;
}

bench::Steps train(const Data& data, std::int64_t batch, std::int64_t steps, double rate) {
  torch::nn::Linear model = make_model(data.images.size(1));
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(rate));
  const std::int64_t batches = data.images.size(0) / batch;
  bench::Steps result;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t first = step % batches * batch;
    const auto images = data.images.narrow(0, first, batch).to(torch::kFloat32).div_(255);
    const auto labels = data.labels.narrow(0, first, batch);
    optimizer.zero_grad();
    const auto loss = torch::nn::functional::cross_entropy(model->forward(images), labels);
    loss.backward();
    optimizer.step();
    result.step(*loss.data_ptr<float>());
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::invalid_argument("usage: torch_softmax DIR BATCH STEPS RATE");
  at::set_num_threads(1);
  at::globalContext().setFlushDenormal(true);  // as ours does
  at::set_num_interop_threads(1);
  const Data data = read_data(argv[1]);
  const std::int64_t batch = std::stoll(argv[2]);
  const double rate = std::stod(argv[4]);
  train(data, batch, 100, rate);
  train(data, batch, std::stoll(argv[3]), rate).print();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "torch_softmax: %s\n", error.what());
  return 1;
}

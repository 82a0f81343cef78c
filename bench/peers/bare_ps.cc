// Synchronous training with one server and two workers over plain sockets: the messages
// and the compute of `paceline train mnist`, and nothing else. The limit of its step time.
//
//   bare_ps DIR BATCH EPOCHS RATE
//
// A message is a header of 64 bytes and the 7,850 floats of a gradient sum or of the
// parameters, sent and received by blocking calls over Unix stream sockets. The order of
// the examples and the cut of a batch are Paceline's. Prints {"seconds_per_step": …,
// "accuracy": …}; starting the processes and reading the data are not in the time.
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/range.h"
#include "data/catalogue/open.h"
#include "data/order.h"
#include "data/share.h"
#include "model/linear/softmax.h"
#include "optim/optimizer.h"
#include "optim/sum.h"
#include "peers/bare_socket.h"
#include "peers/child.h"

namespace {

using namespace paceline;

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kWorkers = 2;

struct Job {
  const Dataset& data;
  Grid grid;
  std::uint64_t steps;
  double rate;
};

// Header and floats lie one behind the other: one call sends or receives both.
class Message {
 public:
  explicit Message(std::size_t floats)
      : bytes_(Buffer::zeros(kHeaderBytes + floats * sizeof(float))) {}

  std::span<float> floats() { return bytes_.as_floats().subspan(kHeaderBytes / sizeof(float)); }
  void send(int socket) { bench::send_all(socket, bytes_.bytes()); }
  void receive(int socket) { bench::receive_all(socket, bytes_.bytes()); }
  void send_header(int socket) { bench::send_all(socket, bytes_.bytes().first(kHeaderBytes)); }
  void receive_header(int socket) {
    bench::receive_all(socket, bytes_.bytes().first(kHeaderBytes));
  }

 private:
  Buffer bytes_;
};

SoftmaxRegression make_model(const Dataset& data) {
  return {data.info().width, static_cast<std::size_t>(data.info().classes)};
}

void work(const Job& job, std::size_t worker, int server) {
  SoftmaxRegression model = make_model(job.data);
  const Order order({.kind = OrderKind::kFull, .seed = 1}, job.data.info().examples);
  Message parameters(model.layout().size);
  Message gradient(model.layout().size);
  std::vector<std::uint64_t> examples;
  NoFlow flow;
  Batch batch;
  gradient.send_header(server);  // ready
  for (std::uint64_t step = 0; step < job.steps; ++step) {
    const Range positions = job.grid.positions(step);
    const Range part = even_part(positions.size(), kWorkers, worker);
    examples.resize(part.size());
    order.examples(job.grid.epoch_of(step),
                   {positions.begin + part.begin, positions.begin + part.end}, examples);
    job.data.read(examples, batch);
    parameters.receive(server);
    model.gradient(batch, parameters.floats(), gradient.floats(), flow);
    gradient.send(server);
  }
}

// Returns the seconds of all steps; `parameters` receives the last ones.
double serve(const Job& job, const std::array<int, kWorkers>& workers, Message& parameters) {
  const Optimizer optimizer({.kind = OptimizerKind::kSgd});
  Message sum(parameters.floats().size());
  Message other(parameters.floats().size());
  for (const int worker : workers) sum.receive_header(worker);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t step = 0; step < job.steps; ++step) {
    for (const int worker : workers) parameters.send(worker);
    sum.receive(workers[0]);
    other.receive(workers[1]);
    add(sum.floats(), other.floats());
    const double weight = static_cast<double>(job.grid.positions(step).size());
    optimizer.apply({.rate = job.rate, .scale = 1 / weight}, 1, 1, sum.floats(),
                    parameters.floats(), parameters.floats(), {}, {});
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double accuracy(const Dataset& data, std::span<const float> parameters) {
  std::vector<std::uint64_t> examples(data.info().examples);
  for (std::size_t e = 0; e < examples.size(); ++e) examples[e] = e;
  Batch batch;
  data.read(examples, batch);
  return make_model(data).evaluate(batch, parameters).accuracy();
}

void train(const Job& job, const Dataset& test) {
  const SoftmaxRegression model = make_model(job.data);
  Message parameters(model.layout().size);
  model.initialize(1, parameters.floats());
  std::array<int, kWorkers> sockets{};
  std::vector<std::unique_ptr<bench::Child>> workers;
  for (std::size_t w = 0; w < kWorkers; ++w) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) bench::fail("socketpair");
    workers.push_back(std::make_unique<bench::Child>([&] { work(job, w, ends[1]); }));
    ::close(ends[1]);  // now the worker's alone: its end is seen here
    sockets[w] = ends[0];
  }
  const double seconds = serve(job, sockets, parameters);
  for (const auto& worker : workers) worker->join();
  std::printf("{\"seconds_per_step\": %.9f, \"accuracy\": %.4f}\n",
              seconds / static_cast<double>(job.steps), accuracy(test, parameters.floats()));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) throw std::invalid_argument("usage: bare_ps DIR BATCH EPOCHS RATE");
  DataOptions options;
  options.name = "idx";
  options.dir = argv[1];
  const auto data = open_dataset(options, Split::kTrain);
  const auto test = open_dataset(options, Split::kTest);
  const std::uint64_t batch = std::stoull(argv[2]);
  if (batch == 0) throw std::invalid_argument("BATCH is at least 1");
  const Grid grid{data->info().examples, batch, default_tile(batch)};
  train({*data, grid, std::stoull(argv[3]) * grid.steps_per_epoch(), std::stod(argv[4])}, *test);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bare_ps: %s\n", error.what());
  return 1;
}

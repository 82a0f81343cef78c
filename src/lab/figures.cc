#include "lab/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"

namespace paceline {
namespace {

constexpr double kBatch = 100;  // of the runs

double accuracy_percent(const nlohmann::json& summary) {
  return 100 * number_in(summary, "test_accuracy", "paceline");
}

double examples_per_second(const nlohmann::json& summary) {
  return number_in(summary, "examples_per_second", "paceline");
}

double step_microseconds(const nlohmann::json& summary) {
  const double steps = number_in(summary, "examples", "paceline") / kBatch;
  return 1e6 * number_in(summary, "train_seconds", "paceline") / steps;
}

void same_losses(const Sample& ours, const Sample& peer) {
  const auto a = ours.report.at("losses").get<std::vector<double>>();
  const auto b = peer.report.at("losses").get<std::vector<double>>();
  const auto close = [](double x, double y) { return std::abs(x - y) <= 1e-4 * std::abs(y); };
  if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), close)) {
    throw Error("the losses of the two measurements differ by more than 1e-4 of them");
  }
}

// Runs that end elsewhere are not the same work, however long they take.
void same_accuracy(const Sample& ours, const Sample& peer) {
  const double a = number_in(ours.report, "test_accuracy", "paceline");
  const double b = number_in(peer.report, "accuracy", "the peer");
  if (std::abs(a - b) > 0.01) {
    throw Error(
        fmt::format("the accuracies of the two measurements differ: {:.4f} and {:.4f}", a, b));
  }
}

Figure softmax(const Measurements& measurements, const std::string& batch, double target) {
  const auto side = [&](const char* program) {
    return measurements.on_mnist(
        {program, {batch, "1000", "0.1"}, "median_step_seconds", 1e6, true});
  };
  return {.name = "softmax.batch" + batch,
          .what = "training step of softmax regression, one core, against libtorch",
          .comparison = Comparison::kAtLeast,
          .target = target,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "µs/step",
          .ours = {"paceline", side("softmax_bench")},
          .peer = {"libtorch", side("torch_softmax")},
          .agree = same_losses};
}

Figure mnist_accuracy(const Measurements& measurements) {
  return {.name = "mnist.accuracy",
          .what = "test accuracy after 10 epochs, batch 100, two workers, one server, sync",
          .comparison = Comparison::kAtLeast,
          .target = 91.5,
          .unit = "%",
          .relation = Relation::kOursAlone,
          .side_unit = "%",
          .ours = {"paceline", measurements.training("sync", accuracy_percent)}};
}

Figure mnist_vs_ddp(const Measurements& measurements) {
  const auto ddp = [&](std::vector<std::string> arguments) {
    return measurements.on_mnist({"ddp_mnist.py", std::move(arguments), "examples_per_second"});
  };
  return {.name = "mnist.vs_ddp",
          .what = "examples/s of that run against PyTorch DDP, pinned or not, what is faster",
          .comparison = Comparison::kAtLeast,
          .target = 8,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "examples/s",
          .ours = {"paceline", measurements.training("sync", examples_per_second)},
          .peer = {"ddp", larger_of(ddp({"100", "10", "0.5", "--pin"}), ddp({"100", "10", "0.5"}))},
          .agree = same_accuracy};
}

Figure mnist_vs_bare(const Measurements& measurements) {
  return {.name = "mnist.vs_bare",
          .what = "step time of that run against bare sockets with the same messages",
          .comparison = Comparison::kAtMost,
          .target = 1.8,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "µs/step",
          .ours = {"paceline", measurements.training("sync", step_microseconds)},
          .peer = {"bare", measurements.on_mnist(
                               {"bare_ps", {"100", "10", "0.5"}, "seconds_per_step", 1e6})},
          .agree = same_accuracy};
}

Figure mnist_async(const Measurements& measurements) {
  return {.name = "mnist.async",
          .what = "examples/s of an asynchronous run against that run",
          .comparison = Comparison::kAtLeast,
          .target = 0.97,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "examples/s",
          .ours = {"async", measurements.training("async", examples_per_second)},
          .peer = {"sync", measurements.training("sync", examples_per_second)}};
}

Figure loopback_bulk(const Measurements& measurements) {
  const auto side = [&](const char* program) {
    return measurements.program({program, {"33554432", "20"}, "bytes_per_second", 1e-9});
  };
  return {.name = "loopback.bulk",
          .what = "push + pull of 32 MB with SGD applied, against a TCP echo",
          .comparison = Comparison::kAtLeast,
          .target = 0.7,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "GB/s",
          .ours = {"paceline", side("ps_bench")},
          .peer = {"echo", side("tcp_echo")}};
}

Figure loopback_small(const Measurements& measurements) {
  const auto side = [&](const char* program) {
    return measurements.program({program, {"32768", "20000"}, "seconds_per_round", 1e6});
  };
  return {.name = "loopback.small",
          .what = "push + pull of 32 KB with SGD applied, against a TCP echo",
          .comparison = Comparison::kAtMost,
          .target = 1.5,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "µs/round",
          .ours = {"paceline", side("ps_bench")},
          .peer = {"echo", side("tcp_echo")}};
}

Figure loop_overhead(const Measurements& measurements) {
  const auto [loop, bare] = measurements.both_on_mnist(
      {"loop_bench", {"100", "6000"}, "", 1e6, true}, "loop_seconds", "bare_seconds");
  return {.name = "loop.overhead",
          .what = "what the training loop adds to the bare model call; local, one worker",
          .comparison = Comparison::kAtMost,
          .target = 3,
          .unit = "µs/step",
          .relation = Relation::kOursMinusPeer,
          .side_unit = "µs/step",
          .ours = {"loop", loop},
          .peer = {"bare", bare}};
}

}  // namespace

std::vector<Figure> make_figures(const Measurements& measurements) {
  return {softmax(measurements, "10", 7), softmax(measurements, "100", 1.9),
          mnist_accuracy(measurements),   mnist_vs_ddp(measurements),
          mnist_vs_bare(measurements),    mnist_async(measurements),
          loopback_bulk(measurements),    loopback_small(measurements),
          loop_overhead(measurements)};
}

}  // namespace paceline

// Deep models on one core, and between hosts.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "lab/figures.h"

namespace paceline {
namespace {

constexpr double kAlexNetFloats = 61'100'840;

Figure alexnet(const Measurements& measurements, const std::string& batch, double target) {
  const auto side = [&](const char* program) {
    return measurements.program({program, {"alexnet", batch, "5"}, "seconds_per_step", 1, true});
  };
  return {
      .name = "deep.alexnet" + batch,
      .what = fmt::format("training step of AlexNet, batch {}, one core, against PyTorch", batch),
      .comparison = Comparison::kAtLeast,
      .target = target,
      .unit = "×",
      .relation = Relation::kPeerByOurs,
      .side_unit = "s/step",
      .ours = {"paceline", side("deep_bench")},
      .peer = {"pytorch", side("torch_deep.py")},
      .pairs = 3};
}

Figure bf16(const Measurements& measurements) {
  const auto side = [&](const char* network) {
    return measurements.program({"deep_bench", {network, "32", "5"}, "seconds_per_step", 1, true});
  };
  return {.name = "deep.bf16",
          .what = "training step of AlexNet, batch 32, one core, products of 16 bits against 32",
          .comparison = Comparison::kAtLeast,
          .target = 1.5,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "s/step",
          .ours = {"bf16", side("alexnet-bf16")},
          .peer = {"float", side("alexnet")},
          .pairs = 3,
          .impossible = __builtin_cpu_supports("avx512bf16")
                            ? ""
                            : "this processor has no instructions for bf16"};
}

Figure lstm(const Measurements& measurements, const std::string& name, const std::string& what,
            double target, Side peer) {
  return {
      .name = "deep." + name,
      .what = "LSTM, embedding 128, hidden 256, length 100, batch 32, one core, " + what,
      .comparison = Comparison::kAtLeast,
      .target = target,
      .unit = "×",
      .relation = Relation::kPeerByOurs,
      .side_unit = "ms/step",
      .ours = {"fused", measurements.program(
                            {"deep_bench", {"lstm", "32", "20"}, "seconds_per_step", 1e3, true})},
      .peer = std::move(peer),
      .pairs = 5};
}

Figure lstm_vs_torch(const Measurements& measurements) {
  return lstm(
      measurements, "lstm_vs_torch", "against nn.LSTM", 1.15,
      {"pytorch", measurements.program(
                      {"torch_deep.py", {"lstm", "32", "20"}, "seconds_per_step", 1e3, true})});
}

Figure lstm_fused_vs_step(const Measurements& measurements) {
  return lstm(
      measurements, "lstm_fused_vs_step", "against the same step by step", 1.4,
      {"step", measurements.program(
                   {"deep_bench", {"lstm-step", "32", "20"}, "seconds_per_step", 1e3, true})});
}

Figure translation(const Measurements& measurements) {
  const auto side = [&](const char* program) {
    return measurements.program({program, {"translation", "64", "5"}, "seconds_per_step", 1, true});
  };
  return {.name = "deep.translation",
          .what = "step of the small translation model, batch 64, one core, against PyTorch",
          .comparison = Comparison::kAtLeast,
          .target = 1.0,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "s/step",
          .ours = {"paceline", side("deep_bench")},
          .peer = {"pytorch", side("torch_deep.py")},
          .pairs = 5};
}

// The median step of the first worker of a run, or of a run that only computes.
double step_of_run(const nlohmann::json& summary) {
  return number_in(summary.at("time").at(0), "step_seconds", "paceline");
}

double step_of_ideal(const nlohmann::json& ideal) {
  return number_in(ideal, "step_seconds", "paceline");
}

// The ceiling is measured with both cores busy: one alone runs faster than two.
Figure two_workers(const Measurements& measurements) {
  return {.name = "deep.two_workers",
          .what = "AlexNet on two workers, batch 64 each, against two that exchange nothing",
          .comparison = Comparison::kAtLeast,
          .target = 0.93,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "s/step",
          .ours = {"paceline", measurements.paceline(
                                   {"train", "alexnet", "--exchange", "local", "--workers", "2",
                                    "--batch", "128", "--synthetic-examples", "640", "--epochs",
                                    "1", "--synthetic-test-examples", "2", "--json"},
                                   step_of_run)},
          .peer = {"ideal", measurements.paceline({"train", "alexnet", "--ideal", "--workers", "2",
                                                   "--batch", "128", "--json"},
                                                  step_of_ideal, true)},
          .pairs = 3};
}

double peak_of_worker(const nlohmann::json& summary) {
  for (const nlohmann::json& role : summary.at("roles")) {
    if (role.at("name") == "worker0") return number_in(role, "peak_rss_bytes", "worker0") / 1e6;
  }
  throw Error("the run had no worker0");
}

Figure memory(const Measurements& measurements) {
  return {
      .name = "deep.memory",
      .what = "peak memory of a worker, AlexNet, SGD, batch 64, against plain PyTorch",
      .comparison = Comparison::kAtMost,
      .target = 1.15,
      .unit = "×",
      .relation = Relation::kOursByPeer,
      .side_unit = "MB",
      .ours = {"paceline", measurements.paceline({"train", "alexnet", "--workers", "1", "--batch",
                                                  "64", "--synthetic-examples", "64", "--epochs",
                                                  "5", "--synthetic-test-examples", "2", "--json"},
                                                 peak_of_worker)},
      .peer = {"pytorch",
               measurements.program({"torch_deep.py", {"alexnet", "64", "5"}, "peak_bytes", 1e-6})},
      .pairs = 3};
}

HostProbe ring(std::vector<std::string> more = {}) {
  HostProbe probe{"ring_bench",
                  {"RANK", "SIZE", "ADDRESS", "NOTES", fmt::format("{:.0f}", kAlexNetFloats), "3"},
                  "seconds_per_round"};
  probe.arguments.insert(probe.arguments.end(), more.begin(), more.end());
  return probe;
}

// With two hosts every one sends as much as there is, and receives as much.
Figure allreduce_dense(const HostMeasurements& hosts) {
  return {.name = "hosts.allreduce_dense",
          .what = "sum of 244 MB over two hosts at 1 Gbit/s, against what the link carries",
          .comparison = Comparison::kAtMost,
          .target = 1.05,
          .unit = "×",
          .relation = Relation::kOursByPeer,
          .side_unit = "s",
          .ours = {"paceline", hosts.program(kGigabit, ring())},
          .peer = {"iperf3", hosts.link(kGigabit, kAlexNetFloats * sizeof(float))},
          .pairs = 3};
}

// A worker pushes half of its gradient to the other host's server and pulls half of the
// parameters from it, and the other does: each host sends as much as there is, as in a ring.
Figure ps_dense(const HostMeasurements& hosts) {
  const double bytes = kAlexNetFloats * sizeof(float);
  return {
      .name = "hosts.ps_dense",
      .what = "push and pull of 244 MB, a server on each of two hosts, 1 Gbit/s, against the link",
      .comparison = Comparison::kAtMost,
      .target = 1.10,
      .unit = "×",
      .relation = Relation::kOursByPeer,
      .side_unit = "s",
      .ours = {"paceline", hosts.program(kGigabit, {"ps_bench",
                                                    {fmt::format("{:.0f}", bytes), "3", "RANK",
                                                     "SIZE", "ADDRESS", "NOTES"},
                                                    "seconds_per_round"})},
      .peer = {"iperf3", hosts.link(kGigabit, bytes)},
      .pairs = 3};
}

Figure allreduce_bf16(const HostMeasurements& hosts) {
  return {.name = "hosts.allreduce_bf16",
          .what = "that sum with 16 bits per number, against 32",
          .comparison = Comparison::kAtLeast,
          .target = 1.9,
          .unit = "×",
          .relation = Relation::kPeerByOurs,
          .side_unit = "s",
          .ours = {"bf16", hosts.program(kGigabit, ring({"bf16"}))},
          .peer = {"float", hosts.program(kGigabit, ring())},
          .pairs = 3};
}

struct HostRun {
  std::string name;
  std::string what;
  double gbit;
  std::vector<std::string> words;  // for `paceline train alexnet`
  bool halves = false;             // 16 bits per number on both measurements
};

// Steps of AlexNet, batch 32 per host, against DDP's, which tests nothing in between: nor do we.
Figure alexnet_on_hosts(const HostMeasurements& hosts, const HostRun& run) {
  std::vector<std::string> words = {"alexnet", "--workers",
                                    "2",       "--batch",
                                    "64",      "--epochs",
                                    "1",       "--synthetic-examples",
                                    "768",     "--synthetic-test-examples",
                                    "2",       "--deadline",
                                    "5min"};
  words.insert(words.end(), run.words.begin(), run.words.end());
  HostProbe ddp{"ddp_alexnet.py", {"RANK", "SIZE", "FIRST", "32", "5"}, "seconds_per_step"};
  if (run.halves) {
    words.insert(words.end(), {"--wire", "bf16"});
    ddp.arguments.emplace_back("--fp16");
  }
  const double rate = run.gbit * 1e9;
  return {.name = "hosts." + run.name,
          .what = fmt::format("step of AlexNet, batch 32 per host, {} Gbit/s, {}, against DDP{}",
                              run.gbit, run.what, run.halves ? ", 16 bits on the wire" : ""),
          .unit = "×",
          .side_unit = "s/step",
          .ours = {"paceline", hosts.training(rate, words, step_of_run)},
          .peer = {"ddp", hosts.program(rate, ddp)},
          .pairs = 3};
}

Figure at_most(Figure figure, double target) {
  figure.comparison = Comparison::kAtMost;
  figure.relation = Relation::kOursByPeer;
  figure.target = target;
  return figure;
}

Figure times_faster(Figure figure, double target) {
  figure.comparison = Comparison::kAtLeast;
  figure.relation = Relation::kPeerByOurs;
  figure.target = target;
  return figure;
}

}  // namespace

std::vector<Figure> make_deep_figures(const Measurements& measurements,
                                      const HostMeasurements& hosts) {
  return {
      alexnet(measurements, "32", 1.0),
      alexnet(measurements, "128", 1.07),
      bf16(measurements),
      lstm_vs_torch(measurements),
      lstm_fused_vs_step(measurements),
      translation(measurements),
      two_workers(measurements),
      memory(measurements),
      allreduce_dense(hosts),
      ps_dense(hosts),
      allreduce_bf16(hosts),
      at_most(alexnet_on_hosts(hosts, {"alexnet_dense",
                                       "all-reduce",
                                       1,
                                       {"--exchange", "allreduce", "--factors", "never"}}),
              1.0),
      at_most(
          alexnet_on_hosts(
              hosts, {"alexnet_ps", "a server on each", 1, {"--exchange", "ps", "--servers", "2"}}),
          0.95),
      at_most(alexnet_on_hosts(hosts, {"alexnet_dense_16",
                                       "all-reduce",
                                       1,
                                       {"--exchange", "allreduce", "--factors", "never"},
                                       true}),
              1.0),
      at_most(alexnet_on_hosts(hosts, {"alexnet_ps_16",
                                       "a server on each",
                                       1,
                                       {"--exchange", "ps", "--servers", "2"},
                                       true}),
              0.95),
      times_faster(alexnet_on_hosts(hosts, {"alexnet_factors_1g",
                                            "factors",
                                            1,
                                            {"--exchange", "allreduce", "--link-gbit", "1"}}),
                   2),
      times_faster(alexnet_on_hosts(hosts, {"alexnet_factors_200m",
                                            "factors",
                                            0.2,
                                            {"--exchange", "allreduce", "--link-gbit", "0.2"}}),
                   6)};
}

}  // namespace paceline
